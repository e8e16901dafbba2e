package mongotest

import (
	"iter"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// found is a document that a statement matched.
type found struct {
	key   string
	doc   []byte
	match query.Matching
}

// foundList is a list of documents. It has them in pieces, because a long one would be copied when it grows, and nothing else runs meanwhile.
type foundList struct{ pieces [][]found }

// firstPiece and laterPieces are how many documents the pieces have.
const (
	firstPiece  = 4
	laterPieces = 256
)

func (l *foundList) add(f found) {
	last := len(l.pieces) - 1
	switch {
	case last < 0:
		l.pieces, last = append(l.pieces, make([]found, 0, firstPiece)), 0
	case len(l.pieces[last]) == cap(l.pieces[last]):
		l.pieces, last = append(l.pieces, make([]found, 0, laterPieces)), last+1
	}
	l.pieces[last] = append(l.pieces[last], f)
}

func (l *foundList) all() iter.Seq[*found] {
	return func(yield func(*found) bool) {
		for _, piece := range l.pieces {
			for i := range piece {
				if !yield(&piece[i]) {
					return
				}
			}
		}
	}
}

// replaced is the entry by which an update replaces the document that was found.
func (f *found) replaced(after []byte, u *query.Update) *store.Entry {
	return &store.Entry{Kind: store.Put, Key: f.key, Before: f.doc, After: after, Whole: u.IsReplacement()}
}
