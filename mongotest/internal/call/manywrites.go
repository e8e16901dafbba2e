package call

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// ManyWrites are the writes of one statement to the documents that it found. Each is a unit. Outside of a transaction, others may change
// a document after it was found.
type ManyWrites struct {
	x        Locked
	command  string // that errors name
	by       *Criteria
	List     FoundList
	Err      error // why no more were found
	from     *Origin
	releases int   // when the documents were found
	again    Found // that was matched again last
}

// FindMany returns the documents that a statement finds. If that takes long, they are searched without the mutex. An exact search
// also sees what others write meanwhile.
func (x Locked) FindMany(command string, q *Criteria, exact bool) *ManyWrites {
	if q.many != nil {
		return q.many
	}
	w := &ManyWrites{x: x, command: command, by: q, from: origin(x), releases: x.Evaluation.lock.releases}
	visit := func(r *store.Record) bool {
		w.List.add(Found{r.Key, r.Doc, x.Result.Match})
		return true
	}
	if exact {
		w.Err = x.EachMatch(command, q, visit)
		return w
	}
	w.Err = findOr(x, command, q, visit, func(frozen Scan) {
		w.List = FoundList{}
		w.Err = x.Find(command, q, frozen, visit)
		q.many = w
	})
	return w
}

// Each calls write for each document that was found, if it is still there to be written. It returns write's first error, or why no more
// were found.
func (w *ManyWrites) Each(note *journal.Entry, write func(f *Found) error) error {
	notes := [1]*journal.Entry{note}
	for f := range w.List.all() {
		err := w.x.Unit(notes[:], func() error {
			isThere, err := w.there(f)
			if !isThere || err != nil {
				return err
			}
			return write(f)
		})
		if err != nil {
			return err
		}
	}
	return w.Err
}

// there reports whether a document that was found is still there and matches. It looks again at what others may have changed.
func (w *ManyWrites) there(f *Found) (bool, error) {
	x := w.x
	if x.Result.Within != nil || x.Evaluation.lock.releases == w.releases {
		return true, nil
	}
	if err := w.from.Check(x); err != nil {
		return false, x.Executing(w.command, err)
	}
	r := x.Client.Member.Data.Collections[x.Command.Full].ByKey[f.Key]
	switch {
	case r == nil:
		return false, nil
	case &r.Doc[0] == &f.Doc[0]:
		return true, nil
	}
	return w.matchedAgain(f, r.Doc)
}

// matchedAgain reports whether what a found document has become matches too, and notes it then.
func (w *ManyWrites) matchedAgain(f *Found, now []byte) (bool, error) {
	doc, err := w.x.Memoized(MemoKey{w, &now[0]}, func() ([]byte, error) {
		w.again = *f
		w.again.Match.Verdicts = nil
		there, err := w.by.Filter.MatchWith(now, &w.again.Match)
		if !there || err != nil {
			return nil, err
		}
		w.again.Doc = now
		return now, nil
	})
	if err != nil {
		return false, w.x.Executing(w.command, err)
	}
	if doc != nil {
		*f = w.again
	}
	return doc != nil, nil
}
