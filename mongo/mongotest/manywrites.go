package mongotest

import "github.com/holdfast-db/holdfast/mongo/mongotest/internal/store"

// manyWrites are the writes of one statement to the documents that it found. Each is a part. Outside of a transaction, others may change
// a document after it was found.
type manyWrites struct {
	x        *exec
	by       *criteria
	list     foundList
	err      error // why no more were found
	from     *origin
	releases int // when the documents were found
}

// findManyLocked returns the documents that a statement finds. If that takes long, they are searched without the mutex. An exact search
// also sees what others write meanwhile.
func (x *exec) findManyLocked(command string, q *criteria, exact bool) *manyWrites {
	if q.many != nil {
		return q.many
	}
	w := &manyWrites{x: x, by: q, from: x.originLocked(), releases: x.evaluation.held.releases}
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
func (w *manyWrites) eachLocked(note *noted, write func(f *found) error) error {
	notes := [1]*noted{note}
	for f := range w.list.all() {
		err := w.x.partLocked(notes[:], func() error {
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
	if x.result.within != nil || x.evaluation.held.releases == w.releases {
		return true, nil
	}
	if err := w.from.checkLocked(x.conn.member); err != nil {
		x.evaluation.ended = x.executing(x.command.name, err) // the command's error, not only the statement's
		return false, x.evaluation.ended
	}
	r := x.conn.member.data.Collections[x.command.full].ByKey[f.key]
	switch {
	case r == nil:
		return false, nil
	case &r.Doc[0] == &f.doc[0]:
		return true, nil
	}
	f.doc, f.match.Verdicts = r.Doc, nil
	there, err := w.by.filter.MatchWith(f.doc, &f.match)
	if err != nil {
		err = x.executing(x.command.name, err)
	}
	return there, err
}
