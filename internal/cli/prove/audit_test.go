package prove

import (
	"context"
	"slices"
	"testing"
)

// lateSite is a site at which a message is applied while the documents are read.
type lateSite struct {
	site
	entries []entry
	reads   int
}

func (s *lateSite) journal() ([]entry, bool) { return slices.Clone(s.entries), true }

func (s *lateSite) read(context.Context, []string) ([]tally, error) {
	found := []tally{{name: "d", counter: int64(len(s.entries))}}
	if s.reads++; s.reads == 1 {
		s.entries = append(s.entries, entry{key: "late", applied: true})
	}
	return found, nil
}

// The documents and the journal are of one time.
func TestTheAuditWaitsForLateMessages(t *testing.T) {
	s := &lateSite{entries: []entry{{key: "first", applied: true}, {key: "refused"}}}
	tallies, journal, known, err := readSettled(t.Context(), s, nil)
	if err != nil || !known || s.reads != 2 || tallies[0].counter != 3 || len(journal) != 3 {
		t.Errorf("%v, %v, %v, %v after %d reads", tallies, journal, known, err, s.reads)
	}
}
