package mongotest

import (
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
)

// manyWrites are the writes of one statement to many documents. Outside of a transaction they are not atomic, as in the real server:
// others may read and write between two of them. So the set's mutex is given up after holdAtMost, and from then on every document is
// looked at again before it is written.
type manyWrites struct {
	x       *exec
	by      *criteria
	from    *origin
	yielded bool // the mutex was given up, outside of a transaction
}

// eachLocked calls write with the index of each document that was found, if it is still there to be written.
func (w *manyWrites) eachLocked(matches []found, write func(i int) error) error {
	for i := range matches {
		for again := true; again; {
			there, err := true, error(nil)
			if i > 0 {
				there, err = w.nextLocked(&matches[i])
			}
			if there && err == nil {
				err = write(i)
			}
			if again, err = w.unblockedLocked(err); err != nil {
				return err
			}
		}
	}
	return nil
}

// nextLocked gives up the mutex if it is time for that, and reports whether the next document is still there.
func (w *manyWrites) nextLocked(f *found) (bool, error) {
	if err := w.yieldLocked(); err != nil {
		return false, w.end(err)
	}
	if !w.yielded {
		return true, nil
	}
	return w.refreshedLocked(f)
}

// yieldLocked gives up the mutex if the command had it for long. What was written before stays, so nothing of it is done again: a command of
// several statements, which may be executed again from its first one, keeps the mutex.
func (w *manyWrites) yieldLocked() error {
	x, h := w.x, &w.x.evaluation.held
	alone := len(x.result.entries) == 1 && x.command.afterApply == nil
	if now := time.Now(); now.Sub(h.taken) < holdAtMost || x.result.within == nil && !alone {
		return nil
	}
	pauses := x.result.within != nil && !h.since.IsZero() // only what can be undone is executed again
	if x.result.within == nil {
		if !w.yielded {
			w.yielded, w.from = true, x.originLocked()
		}
		x.conn.member.publishLocked()
	}
	h.since = time.Time{}
	x.conn.set.mu.Unlock()
	x.conn.set.mu.Lock()
	err := x.maySucceedLocked()
	if h.taken = time.Now(); pauses {
		h.since = h.taken
	}
	return err
}

// maySucceedLocked returns why a write that had given up the mutex must end.
func (x *exec) maySucceedLocked() error {
	if err := x.mayGoOn(); err != nil {
		return err
	}
	if err := x.stillWritableLocked(); err != nil || x.result.within != nil {
		return err
	}
	if x.conn.member.term != x.result.term {
		return mongoerr.Errorf(mongoerr.NotWritablePrimary, "not primary")
	}
	return nil
}

// refreshedLocked looks at a document again, which others may have changed or removed.
func (w *manyWrites) refreshedLocked(f *found) (bool, error) {
	x := w.x
	if err := w.from.checkLocked(x.conn.member); err != nil {
		return false, w.end(x.executing(x.command.name, err))
	}
	r := x.conn.member.data.Collections[x.command.full].ByKey[f.key]
	switch {
	case r == nil:
		return false, nil
	case &r.Doc[0] == &f.doc[0]:
		return true, nil
	}
	f.doc, f.match.Verdicts = r.Doc, nil
	ok, err := w.by.filter.MatchWith(f.doc, &f.match)
	if err != nil {
		err = x.executing(x.command.name, err)
	}
	return ok, err
}

// unblockedLocked waits until the transaction that kept a document from being written has ended. It reports whether that was why, and
// the document can be tried once more.
func (w *manyWrites) unblockedLocked(err error) (bool, error) {
	if !w.yielded || !errors.Is(err, errBlocked) {
		return false, err
	}
	blocker := w.x.result.blocker
	w.x.result.blocker = nil
	if err := w.x.awaitBlockerLocked(blocker); err != nil {
		return false, w.end(err)
	}
	return true, nil
}

// end makes an error that of the command, not only of its statement.
func (w *manyWrites) end(err error) error {
	w.x.evaluation.ended = err
	return err
}
