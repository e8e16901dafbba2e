package backtrack

import "github.com/dlclark/regexp2/v2/syntax"

// loop is a group that is repeated.
type loop struct {
	body, rest matcher
	number     int // of the loop, in its pattern
	min, max   int
	lazy       bool
}

// repetition is a repetition of a loop's body, whose match a search is looking for.
type repetition struct {
	done int // how many repetitions came before it
	from int // the place in the text where it begins
}

func (c *compiler) loop(n *syntax.RegexNode, rest matcher) matcher {
	l := &loop{rest: rest, number: c.loops, min: n.M, max: n.N, lazy: n.T == syntax.NtLazyloop}
	c.loops++
	l.body = c.node(n.Children[0], l.again)
	return func(s *search, at int) bool { return l.from(s, at, 0) }
}

// again is called where a repetition of the body ends. A repetition that matched the empty text is the last one.
func (l *loop) again(s *search, at int) bool {
	r := s.repetitions[l.number]
	if at == r.from && r.done >= l.min {
		return l.rest(s, at)
	}
	return l.from(s, at, r.done+1)
}

// from reports whether the loop, done repetitions of which have matched, and what follows it match from a place on.
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
