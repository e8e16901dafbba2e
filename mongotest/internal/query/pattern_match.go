package query

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/holdfast-db/holdfast/mongotest/internal/backtrack"
)

// Regexp is a compiled regular expression. It is immutable.
type Regexp struct {
	fast *regexp.Regexp                     // nil for a pattern that Go's engine has not
	slow func() (*backtrack.Program, error) // compiles the pattern for a search by backtracking
}

func newRegexp(fast *regexp.Regexp, pattern, flags string) *Regexp {
	return &Regexp{fast, sync.OnceValues(func() (*backtrack.Program, error) { return backtrack.Compile(pattern, flags) })}
}

// ErrMatchLimit is the error of a search that tried too many ways.
var ErrMatchLimit = backtrack.ErrMatchLimit

// For returns how to search a text: by Go's engine, or by backtracking if that is not nil.
func (r *Regexp) For(text string) (*regexp.Regexp, *backtrack.Program) {
	if r.fast != nil && (!strings.HasSuffix(text, "\n") || !r.asksForLines()) {
		return r.fast, nil
	}
	slow, err := r.slow()
	if err != nil { // only Go's engine has it
		return r.fast, nil
	}
	return nil, slow
}

// asksForLines reports whether the pattern may have a $ or a multiline ^: Go's engine has other rules for them where a text ends with
// a newline.
func (r *Regexp) asksForLines() bool { return strings.ContainsAny(r.fast.String(), "$^") }

// matches reports whether the expression is found in a text. A search that tried too many ways has found nothing.
func (r *Regexp) matches(text []byte, m *Matching) bool {
	if r.fast != nil && !bytes.HasSuffix(text, []byte("\n")) && !isLongSearch(r.fast, len(text)) {
		return r.fast.Match(text)
	}
	var work *Work
	if m != nil {
		work = m.Work
	}
	s := string(text)
	var found []int
	var err error
	if fast, slow := r.For(s); slow != nil {
		found, err = slow.Find(s, 0, work.Do)
	} else {
		found, err = FirstMatch(fast, s, work)
	}
	if err != nil && !errors.Is(err, ErrMatchLimit) && m != nil {
		m.err = err
	}
	return found != nil
}
