package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// manyWrites are the writes of one statement to the documents that it found. Each is a unit. Outside of a transaction, others may change
// a document after it was found.
type manyWrites struct {
	x        *call
	command  string // that errors name
	by       *criteria
	list     foundList
	err      error // why no more were found
	from     *origin
	releases int   // when the documents were found
	again    found // that was matched again last
}

// findManyLocked returns the documents that a statement finds. If that takes long, they are searched without the mutex. An exact search
// also sees what others write meanwhile.
func (x *call) findManyLocked(command string, q *criteria, exact bool) *manyWrites {
	if q.many != nil {
		return q.many
	}
	w := &manyWrites{x: x, command: command, by: q, from: x.originLocked(), releases: x.evaluation.lock.releases}
	visit := func(r *store.Record) bool {
		w.list.add(found{r.Key, r.Doc, x.result.match})
		return true
	}
	if exact {
		w.err = x.findLocked(command, q, visit)
		return w
	}
	w.err = x.findOrLocked(command, q, visit, func(frozen scan) {
		w.list = foundList{}
		w.err = x.find(command, q, frozen, visit)
		q.many = w
	})
	return w
}

// eachLocked calls write for each document that was found, if it is still there to be written. It returns write's first error, or why no more
// were found.
func (w *manyWrites) eachLocked(note *journal.Entry, write func(f *found) error) error {
	notes := [1]*journal.Entry{note}
	for f := range w.list.all() {
		err := w.x.unitLocked(notes[:], func() error {
			there, err := w.thereLocked(f)
			if !there || err != nil {
				return err
			}
			return write(f)
		})
		if err != nil {
			return err
		}
	}
	return w.err
}

// thereLocked reports whether a document that was found is still there and matches. It looks again at what others may have changed.
func (w *manyWrites) thereLocked(f *found) (bool, error) {
	x := w.x
	if x.result.within != nil || x.evaluation.lock.releases == w.releases {
		return true, nil
	}
	if err := w.from.checkLocked(x.client.member); err != nil {
		return false, x.executing(w.command, err)
	}
	r := x.client.member.Data.Collections[x.command.full].ByKey[f.key]
	switch {
	case r == nil:
		return false, nil
	case &r.Doc[0] == &f.doc[0]:
		return true, nil
	}
	return w.matchedAgainLocked(f, r.Doc)
}

// matchedAgainLocked reports whether what a found document has become matches too, and notes it then.
func (w *manyWrites) matchedAgainLocked(f *found, now []byte) (bool, error) {
	doc, err := w.x.memoizedLocked(memoKey{w, &now[0]}, func() ([]byte, error) {
		w.again = *f
		w.again.match.Verdicts = nil
		there, err := w.by.filter.MatchWith(now, &w.again.match)
		if !there || err != nil {
			return nil, err
		}
		w.again.doc = now
		return now, nil
	})
	if err != nil {
		return false, w.x.executing(w.command, err)
	}
	if doc != nil {
		*f = w.again
	}
	return doc != nil, nil
}
