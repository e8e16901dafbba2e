package call

import (
	"iter"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Found is a document that a statement matched.
type Found struct {
	Key   string
	Doc   []byte
	Match query.Matching
}

// FoundList is a list of documents. It has them in pieces, because a long one would be copied when it grows, and nothing else runs meanwhile.
type FoundList struct{ Pieces [][]Found }

// firstPiece and laterPieces are how many documents the pieces have.
const (
	firstPiece  = 4
	laterPieces = 256
)

func (l *FoundList) add(f Found) {
	last := len(l.Pieces) - 1
	switch {
	case last < 0:
		l.Pieces, last = append(l.Pieces, make([]Found, 0, firstPiece)), 0
	case len(l.Pieces[last]) == cap(l.Pieces[last]):
		l.Pieces, last = append(l.Pieces, make([]Found, 0, laterPieces)), last+1
	}
	l.Pieces[last] = append(l.Pieces[last], f)
}

func (l *FoundList) all() iter.Seq[*Found] {
	return func(yield func(*Found) bool) {
		for _, piece := range l.Pieces {
			for i := range piece {
				if !yield(&piece[i]) {
					return
				}
			}
		}
	}
}

// Replaced is the entry by which an update replaces the document that was found.
func (f *Found) Replaced(after []byte, u *query.Update) *store.Entry {
	return &store.Entry{Op: store.Put, Key: f.Key, Before: f.Doc, After: after, Whole: u.IsReplacement()}
}
