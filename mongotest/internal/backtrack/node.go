package backtrack

import (
	"github.com/dlclark/regexp2/v2/syntax"
)

// matcher tries to match a part of the pattern at a place of the text, and then all that is behind it in the pattern. It reports whether
// all of that matched. If not, the groups are as before.
//
// What is behind a part is known when the pattern is compiled, so a search makes no functions: what a part must remember until the parts
// behind it have failed is in the search.
type matcher func(s *search, at int) bool

func accept(*search, int) bool { return true }

// compiler compiles the nodes of one pattern.
type compiler struct {
	loops       int // how many there are so far
	unsupported bool
}

// node returns the matcher of a node and of the rest of the pattern.
func (c *compiler) node(n *syntax.RegexNode, rest matcher) matcher {
	if holds := place(n); holds != nil {
		return func(s *search, at int) bool { return holds(s.text, at) && rest(s, at) }
	}
	if m := character(n, rest); m != nil {
		return m
	}
	if m := c.group(n, rest); m != nil {
		return m
	}
	c.unsupported = true
	return rest
}

// group returns the matcher of a node that contains others. It returns nil for any other node.
func (c *compiler) group(n *syntax.RegexNode, rest matcher) matcher {
	switch n.T { //nolint:exhaustive // the kinds that are not here are no such nodes
	case syntax.NtNothing:
		return func(*search, int) bool { return false }
	case syntax.NtEmpty, syntax.NtUpdateBumpalong:
		return rest
	case syntax.NtConcatenate:
		for i := len(n.Children) - 1; i >= 0; i-- {
			rest = c.node(n.Children[i], rest)
		}
		return rest
	case syntax.NtAlternate:
		return c.alternatives(n.Children, rest)
	case syntax.NtGroup:
		return c.node(n.Children[0], rest)
	case syntax.NtLoop, syntax.NtLazyloop:
		return c.loop(n, rest)
	case syntax.NtCapture:
		if n.N != -1 { // a balancing group of .NET, which PCRE does not have
			return nil
		}
		return c.capture(n, rest)
	case syntax.NtPosLook:
		return lookahead(c.node(n.Children[0], accept), rest)
	case syntax.NtNegLook:
		return negativeLook(c.node(n.Children[0], accept), rest)
	case syntax.NtAtomic:
		return c.atomic(n.Children[0], rest)
	case syntax.NtBackRefCond:
		took := func(s *search, _ int) bool { return s.groups[2*n.M] >= 0 }
		return c.condition(took, n.Children, rest)
	case syntax.NtExprCond:
		return c.condition(c.node(n.Children[0], accept), n.Children[1:], rest)
	}
	return nil
}

func leftward(n *syntax.RegexNode) bool { return n.Options&syntax.RightToLeft != 0 }

func (c *compiler) alternatives(nodes []*syntax.RegexNode, rest matcher) matcher {
	branches := make([]matcher, len(nodes))
	for i, n := range nodes {
		branches[i] = c.node(n, rest)
	}
	return func(s *search, at int) bool {
		for _, branch := range branches {
			if !s.try() {
				return false
			}
			if branch(s, at) {
				return true
			}
		}
		return false
	}
}

// capture returns the matcher of a group that notes where it begins and ends.
func (c *compiler) capture(n *syntax.RegexNode, rest matcher) matcher {
	back, begin, end := leftward(n), 2*n.M, 2*n.M+1
	body := c.node(n.Children[0], func(s *search, at int) bool {
		wasBegin, wasEnd := s.groups[begin], s.groups[end]
		if s.groups[begin], s.groups[end] = s.opened[n.M], at; back {
			s.groups[begin], s.groups[end] = at, s.opened[n.M]
		}
		if rest(s, at) {
			return true
		}
		s.groups[begin], s.groups[end] = wasBegin, wasEnd
		return false
	})
	return func(s *search, at int) bool {
		if !s.try() {
			return false
		}
		was := s.opened[n.M]
		s.opened[n.M] = at
		if body(s, at) {
			return true
		}
		s.opened[n.M] = was
		return false
	}
}

func lookahead(body, rest matcher) matcher {
	return func(s *search, at int) bool {
		mark := s.save()
		if s.try() && body(s, at) && rest(s, at) {
			return true
		}
		s.restore(mark)
		return false
	}
}

func negativeLook(body, rest matcher) matcher {
	return func(s *search, at int) bool {
		mark := s.save()
		found := s.try() && body(s, at)
		s.restore(mark)
		return !found && s.err == nil && rest(s, at)
	}
}

func (c *compiler) atomic(n *syntax.RegexNode, rest matcher) matcher {
	body := c.node(n, func(s *search, at int) bool {
		s.end = at
		return true
	})
	return func(s *search, at int) bool {
		mark := s.save()
		if s.try() && body(s, at) && rest(s, s.end) {
			return true
		}
		s.restore(mark)
		return false
	}
}

func (c *compiler) condition(test matcher, nodes []*syntax.RegexNode, rest matcher) matcher {
	met, not := c.node(nodes[0], rest), rest
	if len(nodes) > 1 {
		not = c.node(nodes[1], rest)
	}
	return func(s *search, at int) bool {
		if !s.try() {
			return false
		}
		mark := s.save()
		branch := not
		if test(s, at) {
			branch = met
		}
		if s.err == nil && branch(s, at) {
			return true
		}
		s.restore(mark)
		return false
	}
}
