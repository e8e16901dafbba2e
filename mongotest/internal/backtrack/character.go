package backtrack

import (
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2/syntax"
)

// character returns the matcher of a node that stands for characters and of the rest of the pattern, nil if the node does not.
func character(n *syntax.RegexNode, rest matcher) matcher {
	switch n.T { //nolint:exhaustive // the kinds that are not here are no such nodes
	case syntax.NtMulti:
		return literal(n, rest)
	case syntax.NtRef:
		return reference(n, rest)
	}
	c := newCharacters(n, rest)
	switch n.T { //nolint:exhaustive // as above
	case syntax.NtOne, syntax.NtNotone, syntax.NtSet:
		return c.one
	case syntax.NtOneloop, syntax.NtNotoneloop, syntax.NtSetloop:
		return c.greedy
	case syntax.NtOnelazy, syntax.NtNotonelazy, syntax.NtSetlazy:
		return c.lazy
	case syntax.NtOneloopatomic, syntax.NtNotoneloopatomic, syntax.NtSetloopatomic:
		return c.possessive
	}
	return nil
}

// characters is one character of a kind, or several one behind the other.
type characters struct {
	test        func(r rune) bool
	ascii       [utf8.RuneSelf]bool // what test says
	least, most int
	leftward    bool
	rest        matcher
}

// newCharacters returns nil for a node that stands for no characters.
func newCharacters(n *syntax.RegexNode, rest matcher) *characters {
	c := &characters{test: test(n), least: n.M, most: n.N, leftward: leftward(n), rest: rest}
	if c.test == nil {
		return nil
	}
	for r := range c.ascii {
		c.ascii[r] = c.test(rune(r))
	}
	return c
}

func test(n *syntax.RegexNode) func(r rune) bool {
	switch {
	case n.IsOneFamily():
		return func(r rune) bool { return r == n.Ch }
	case n.IsNotoneFamily():
		return func(r rune) bool { return r != n.Ch }
	case n.IsSetFamily():
		return n.Set.CharIn
	}
	return nil
}

// step returns the place behind the next character, -1 if there is none of the kind.
func (c *characters) step(s *search, at int) int {
	r, to := s.character(at, c.leftward)
	switch {
	case to < 0, r < utf8.RuneSelf && !c.ascii[r], r >= utf8.RuneSelf && !c.test(r):
		return -1
	}
	return to
}

// character returns the character behind a place, or before it, and the place at its other end: -1 if there is none.
func (s *search) character(at int, leftward bool) (r rune, to int) {
	first, to := at, at+1
	if leftward {
		first, to = at-1, at-1
	}
	switch {
	case first < 0, first >= len(s.text):
		return 0, -1
	case s.text[first] < utf8.RuneSelf:
		return rune(s.text[first]), to
	case leftward:
		r, n := utf8.DecodeLastRuneInString(s.text[:at])
		return r, at - n
	}
	r, n := utf8.DecodeRuneInString(s.text[at:])
	return r, at + n
}

// back returns the place before the last character that step passed.
func (c *characters) back(s *search, at int) int {
	_, to := s.character(at, !c.leftward)
	return to
}

func (c *characters) one(s *search, at int) bool {
	to := c.step(s, at)
	return to >= 0 && c.rest(s, to)
}

// run passes as many characters as there are, up to a number, and returns how many there were.
func (c *characters) run(s *search, at, most int) (to, n int) {
	for ; n < most; n++ {
		further := c.step(s, at)
		if further < 0 || n%16 == 15 && !s.work(1) {
			break
		}
		at = further
	}
	return at, n
}

func (c *characters) greedy(s *search, at int) bool {
	to, n := c.run(s, at, c.most)
	for ; n >= c.least; n-- {
		if !s.try() {
			return false
		}
		if c.rest(s, to) {
			return true
		}
		to = c.back(s, to)
	}
	return false
}

func (c *characters) lazy(s *search, at int) bool {
	to, n := c.run(s, at, c.least)
	if n < c.least {
		return false
	}
	for ; s.try(); n++ {
		if c.rest(s, to) {
			return true
		}
		if n == c.most {
			return false
		}
		if to = c.step(s, to); to < 0 {
			return false
		}
	}
	return false
}

func (c *characters) possessive(s *search, at int) bool {
	to, n := c.run(s, at, c.most)
	return n >= c.least && s.err == nil && c.rest(s, to)
}

func literal(n *syntax.RegexNode, rest matcher) matcher {
	text, back, folded := string(n.Str), leftward(n), n.Options&syntax.IgnoreCase != 0
	return func(s *search, at int) bool {
		to := s.same(text, at, back, folded)
		return to >= 0 && rest(s, to)
	}
}

// reference is a back reference; to a group that did not take part it matches nothing.
func reference(n *syntax.RegexNode, rest matcher) matcher {
	back, folded := leftward(n), n.Options&syntax.IgnoreCase != 0
	return func(s *search, at int) bool {
		from, end := s.groups[2*n.M], s.groups[2*n.M+1]
		if from < 0 || !s.work(1+(end-from)/16) {
			return false
		}
		to := s.same(s.text[from:end], at, back, folded)
		return to >= 0 && rest(s, to)
	}
}

// same returns the place behind a text that stands at a place, or before one that ends there; -1 if it does not stand there.
func (s *search) same(text string, at int, back, folded bool) int {
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		rest := text[n:]
		if back {
			r, n = utf8.DecodeLastRuneInString(text)
			rest = text[:len(text)-n]
		}
		is, to := s.character(at, back)
		same := is == r || folded && equalFolded(is, r)
		if to < 0 || !same {
			return -1
		}
		at, text = to, rest
	}
	return at
}

func equalFolded(a, b rune) bool {
	for r := unicode.SimpleFold(a); r != a; r = unicode.SimpleFold(r) {
		if r == b {
			return true
		}
	}
	return false
}

// place returns what an assertion asks of a place of the text, nil if the node is none.
func place(n *syntax.RegexNode) func(text string, at int) bool {
	switch n.T { //nolint:exhaustive // the kinds that are not here are no such nodes
	case syntax.NtBol:
		return func(text string, at int) bool { return at == 0 || text[at-1] == '\n' && at < len(text) }
	case syntax.NtEol:
		return func(text string, at int) bool { return at == len(text) || text[at] == '\n' }
	case syntax.NtBeginning, syntax.NtStart:
		return func(_ string, at int) bool { return at == 0 }
	case syntax.NtEndZ, syntax.NtEnd: // \z is translated
		return func(text string, at int) bool { return text[at:] == "" || text[at:] == "\n" }
	case syntax.NtBoundary, syntax.NtECMABoundary:
		return boundary
	case syntax.NtNonboundary, syntax.NtNonECMABoundary:
		return func(text string, at int) bool { return !boundary(text, at) }
	}
	return nil
}

func boundary(text string, at int) bool {
	before := at > 0 && isWord(text[at-1])
	return before != (at < len(text) && isWord(text[at]))
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
