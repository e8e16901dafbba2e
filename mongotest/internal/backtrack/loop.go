package backtrack

import "github.com/dlclark/regexp2/v2/syntax"

// loop is a group that is repeated.
type loop struct {
	body, rest matcher
	number     int // of the loop, in its pattern
	min, max   int
	lazy       bool
}

// repetition is the one that a loop is in.
type repetition struct {
	done int // how many were before it
	from int // where it begins
}

func (c *compiler) loop(n *syntax.RegexNode, rest matcher) matcher {
	l := &loop{rest: rest, number: c.loops, min: n.M, max: n.N, lazy: n.T == syntax.NtLazyloop}
	c.loops++
	l.body = c.node(n.Children[0], l.again)
	return func(s *search, at int) bool { return l.from(s, at, 0) }
}

// again is what is behind a repetition. One that matched nothing is the last.
func (l *loop) again(s *search, at int) bool {
	r := s.repetitions[l.number]
	if at == r.from && r.done >= l.min {
		return l.rest(s, at)
	}
	return l.from(s, at, r.done+1)
}

// from tries what is left after some repetitions.
func (l *loop) from(s *search, at, done int) bool {
	matched := s.enter() && (l.lazy && done >= l.min && l.rest(s, at) ||
		done < l.max && l.repeated(s, at, done) ||
		!l.lazy && done >= l.min && s.err == nil && l.rest(s, at))
	s.leave()
	return matched
}

func (l *loop) repeated(s *search, at, done int) bool {
	was := s.repetitions[l.number]
	s.repetitions[l.number] = repetition{done, at}
	if l.body(s, at) {
		return true
	}
	s.repetitions[l.number] = was
	return false
}
