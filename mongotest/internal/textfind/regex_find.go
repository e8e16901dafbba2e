package textfind

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"

	"github.com/holdfast-db/holdfast/mongotest/internal/backtrack"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Search looks for the matches of a regular expression in a text, one after the other. An operation that has ended also ends its search,
// between two matches and within one.
type Search struct {
	name string // of the operator
	work *query.Work
	re   *regexp.Regexp
	slow *backtrack.Program // instead of re, if it is not nil
	rest *regexp.Regexp     // see looksBack, which sets it
	Text string
}

// NewSearch returns a search of a text for an operator, which errors name.
func NewSearch(name string, w *query.Work, re *query.Regexp, s string) *Search {
	fast, slow := re.For(s)
	return &Search{name: name, work: w, re: fast, slow: slow, Text: s}
}

// All calls visit with each match in turn: with those that the FindAll functions of regexp find.
func (f *Search) All(visit func(found []int) (more bool)) error {
	for at, last := 0, -1; at <= len(f.Text); {
		found, err := f.From(at)
		if err != nil || found == nil {
			return err
		}
		empty := found[0] == found[1]
		if !empty || found[0] != last { // an empty match directly after another one does not count
			if !visit(found) {
				return nil
			}
		}
		last = found[1]
		if at = found[1]; empty {
			_, n := utf8.DecodeRuneInString(f.Text[at:])
			at += max(n, 1)
		}
	}
	return nil
}

// From returns the first match that begins at a place or behind it.
func (f *Search) From(at int) ([]int, error) {
	if f.slow != nil {
		return f.backtracking(at)
	}
	if at == 0 || !f.looksBack() {
		return f.moved(f.re, at, 0)
	}
	_, n := utf8.DecodeLastRuneInString(f.Text[:at])
	return f.moved(f.rest, at-n, 2)
}

func (f *Search) backtracking(at int) ([]int, error) {
	found, err := f.slow.Find(f.Text, at, f.work.Do)
	if errors.Is(err, backtrack.ErrMatchLimit) {
		return nil, mongoerr.Errorf(51156, "Error occurred while executing the regular expression in %s. Result code: %s", f.name, err)
	}
	return found, err
}

// moved finds a match in the text from a place on, and leaves out the first of its indexes.
func (f *Search) moved(re *regexp.Regexp, at, without int) ([]int, error) {
	found, err := query.FirstMatch(re, f.Text[at:], f.work)
	if len(found) == 0 {
		return nil, err
	}
	found = found[without:]
	for i := range found {
		if found[i] >= 0 {
			found[i] += at
		}
	}
	return found, err
}

// looksBack reports whether a match depends on the character in front of it. Its first call sets rest: then to the expression after one
// character, otherwise to the expression itself.
func (f *Search) looksBack() bool {
	if f.rest == nil {
		f.rest = f.re
		parsed, err := syntax.Parse(f.re.String(), syntax.Perl)
		if err != nil {
			return false
		}
		if asksBefore(parsed) {
			f.rest = regexp.MustCompile(`\A(?s:.)(?s:.*?)(` + f.re.String() + `)`)
		}
	}
	return f.rest != f.re
}

func asksBefore(re *syntax.Regexp) bool {
	asking := []syntax.Op{syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary}
	return slices.Contains(asking, re.Op) || slices.ContainsFunc(re.Sub, asksBefore)
}
