package backtrack

import (
	"slices"

	"github.com/dlclark/regexp2/v2/syntax"
)

// matcher tries to match a part of the pattern at a place of the text, and then what is behind it in the pattern. It reports whether all of
// that matched. If not, the groups are as before.
type matcher func(s *search, at int, next next) bool

// next is what is behind a part of a pattern.
type next func(at int) bool

func compileNode(n *syntax.RegexNode) (matcher, error) {
	children := make([]matcher, len(n.Children))
	for i, child := range n.Children {
		var err error
		if children[i], err = compileNode(child); err != nil {
			return nil, err
		}
	}
	if p := place(n); p != nil {
		return assertion(p), nil
	}
	if m := character(n); m != nil {
		return m, nil
	}
	if m := group(n, children); m != nil {
		return m, nil
	}
	return nil, ErrUnsupported
}

// group returns the matcher of a node that contains others. It returns nil for any other node.
func group(n *syntax.RegexNode, children []matcher) matcher {
	switch n.T { //nolint:exhaustive // the kinds that are not here are no such nodes
	case syntax.NtNothing:
		return func(*search, int, next) bool { return false }
	case syntax.NtEmpty, syntax.NtUpdateBumpalong:
		return func(_ *search, at int, next next) bool { return next(at) }
	case syntax.NtConcatenate:
		return sequence(children)
	case syntax.NtAlternate:
		return alternatives(children)
	case syntax.NtGroup:
		return children[0]
	case syntax.NtLoop, syntax.NtLazyloop:
		return (&loop{children[0], n.M, n.N, n.T == syntax.NtLazyloop}).match
	case syntax.NtCapture:
		if n.N != -1 { // a balancing group of .NET, which PCRE does not have
			return nil
		}
		return capture(children[0], n.M, leftward(n))
	case syntax.NtPosLook:
		return lookahead(children[0])
	case syntax.NtNegLook:
		return negativeLook(children[0])
	case syntax.NtAtomic:
		return atomic(children[0])
	case syntax.NtBackRefCond:
		return condition(func(s *search, _ int) bool { return s.groups[2*n.M] >= 0 }, children)
	case syntax.NtExprCond:
		test := children[0]
		return condition(func(s *search, at int) bool { return test(s, at, accept) }, children[1:])
	}
	return nil
}

func leftward(n *syntax.RegexNode) bool { return n.Options&syntax.RightToLeft != 0 }

func sequence(parts []matcher) matcher {
	switch len(parts) {
	case 0:
		return func(_ *search, at int, next next) bool { return next(at) }
	case 1:
		return parts[0]
	}
	first, rest := parts[0], sequence(parts[1:])
	return func(s *search, at int, next next) bool {
		return first(s, at, func(at int) bool { return rest(s, at, next) })
	}
}

func alternatives(branches []matcher) matcher {
	return func(s *search, at int, next next) bool {
		for _, branch := range branches {
			if !s.try() {
				return false
			}
			if branch(s, at, next) {
				return true
			}
		}
		return false
	}
}

// loop is a group that is repeated.
type loop struct {
	body matcher
	min  int
	max  int
	lazy bool
}

func (l *loop) match(s *search, at int, next next) bool { return l.from(s, at, 0, next) }

// from tries what is left after some repetitions. One that matched nothing is the last.
func (l *loop) from(s *search, at, done int, next next) bool {
	defer s.leave()
	if !s.enter() {
		return false
	}
	if l.lazy && done >= l.min && next(at) {
		return true
	}
	if done < l.max && l.body(s, at, func(to int) bool {
		if to == at && done >= l.min {
			return next(to)
		}
		return l.from(s, to, done+1, next)
	}) {
		return true
	}
	return !l.lazy && done >= l.min && s.err == nil && next(at)
}

func capture(body matcher, n int, leftward bool) matcher {
	return func(s *search, at int, next next) bool {
		if !s.try() {
			return false
		}
		return body(s, at, func(to int) bool {
			from, end := s.groups[2*n], s.groups[2*n+1]
			s.groups[2*n], s.groups[2*n+1] = at, to
			if leftward {
				s.groups[2*n], s.groups[2*n+1] = to, at
			}
			if next(to) {
				return true
			}
			s.groups[2*n], s.groups[2*n+1] = from, end
			return false
		})
	}
}

func lookahead(body matcher) matcher {
	return func(s *search, at int, next next) bool {
		was := slices.Clone(s.groups)
		if s.try() && body(s, at, accept) && next(at) {
			return true
		}
		s.restored(was)
		return false
	}
}

func negativeLook(body matcher) matcher {
	return func(s *search, at int, next next) bool {
		was := slices.Clone(s.groups)
		found := s.try() && body(s, at, accept)
		s.restored(was)
		return !found && s.err == nil && next(at)
	}
}

func atomic(body matcher) matcher {
	return func(s *search, at int, next next) bool {
		was := slices.Clone(s.groups)
		end := 0
		if s.try() && body(s, at, func(to int) bool { end = to; return true }) && next(end) {
			return true
		}
		s.restored(was)
		return false
	}
}

func condition(test func(s *search, at int) bool, branches []matcher) matcher {
	return func(s *search, at int, next next) bool {
		if !s.try() {
			return false
		}
		met := test(s, at)
		switch {
		case s.err != nil:
			return false
		case met:
			return branches[0](s, at, next)
		case len(branches) > 1:
			return branches[1](s, at, next)
		}
		return next(at)
	}
}
