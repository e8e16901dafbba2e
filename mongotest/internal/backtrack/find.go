package backtrack

import (
	"errors"
	"slices"
	"unicode/utf8"
)

// ErrMatchLimit is the error of a search that tried too many ways, as PCRE's.
var ErrMatchLimit = errors.New("match limit exceeded")

// tries is how many ways a search may try: PCRE's default.
const tries = 10_000_000

// deepest is how many groups may be open at a time, with all repetitions. It keeps a search's memory within some 100 MB.
const deepest = 100_000

// Find returns the first match that begins at a byte of the text or behind it, nil for none: the byte indexes of its begin and its end,
// then those of its groups, -1 for one that did not take part. Now and then it calls step, if that is not nil, with the number of steps
// since the last call; an error of step ends the search and is returned.
func (p *Program) Find(text string, from int, step func(steps int) error) ([]int, error) {
	s := p.search(text, step)
	for at := from; at <= len(text); {
		if p.root(s, at) {
			return s.groups, nil
		}
		s.work(1)
		if s.err != nil {
			return nil, s.err
		}
		_, n := utf8.DecodeRuneInString(text[at:])
		at += max(n, 1)
	}
	return nil, s.flush()
}

// search is one call of Find.
type search struct {
	text        string
	step        func(int) error
	groups      []int
	opened      []int        // where each group begins that is not closed yet
	repetitions []repetition // those that the loops are in
	saved       []int        // groups that come back where a way fails
	end         int          // where the atomic group that matched last ends
	steps       int          // since step was called
	tried       int
	depth       int
	err         error // why it must end
}

func (p *Program) search(text string, step func(int) error) *search {
	groups := slices.Repeat([]int{-1}, 2*p.groups)
	return &search{text: text, step: step, groups: groups, opened: make([]int, p.groups), repetitions: make([]repetition, p.loops)}
}

// stepsPerCall is how many steps there are between two calls of step.
const stepsPerCall = 256

// work counts steps, and reports whether the search may go on.
func (s *search) work(steps int) bool {
	if s.steps += steps; s.steps >= stepsPerCall {
		s.check()
	}
	return s.err == nil
}

// check ends the search if its steps must end, or if it tried too many ways.
func (s *search) check() {
	if s.err = errors.Join(s.err, s.flush()); s.err == nil && s.tried > tries {
		s.err = ErrMatchLimit
	}
}

func (s *search) flush() error {
	steps := s.steps
	s.steps = 0
	if s.step == nil || steps == 0 {
		return nil
	}
	return s.step(steps)
}

// try counts a way that is tried, and reports whether the search may go on.
func (s *search) try() bool {
	s.tried++
	return s.work(1)
}

// enter opens a group, which leave closes.
func (s *search) enter() bool {
	if s.depth++; s.depth > deepest && s.err == nil {
		s.err = ErrMatchLimit
	}
	return s.try()
}

func (s *search) leave() { s.depth-- }

// save keeps the groups for restore.
func (s *search) save() (mark int) {
	mark = len(s.saved)
	s.saved = append(s.saved, s.groups...)
	return mark
}

// restore puts the groups back as they were, where a way has failed.
func (s *search) restore(mark int) {
	copy(s.groups, s.saved[mark:])
	s.saved = s.saved[:mark]
}
