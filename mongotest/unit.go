package mongotest

import (
	"cmp"
	"runtime"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// A unit of work of a write, here a unit for short, is done whole or not at all: a statement, or one document of those that it is about. Outside
// of a transaction, others may read and write between two units, as in the real server.

// unitLocked runs apply as one unit of a write, after it gave up the set's mutex if that has been held for long. Notes are the journal's entries
// for the unit. Apply may run more than once, see attemptLocked. If it has units itself, it writes nothing else after the first.
func (x *call) unitLocked(notes []*journal.Entry, apply func() error) error {
	if err := x.yieldLocked(); err != nil {
		return err
	}
	return x.attemptLocked(notes, apply)
}

// attemptLocked runs apply, and again when the transaction that was in its way has ended, or what took long has been evaluated. It undoes
// what apply did and gives up the mutex for that. So apply begins by forgetting what it noted before.
func (x *call) attemptLocked(notes []*journal.Entry, apply func() error) error {
	h := &x.evaluation.lock
	h.yields = 0
	h.memo.reset()
	before := x.savepointLocked(notes)
	for {
		h.slow = nil
		h.memo.again()
		if h.since = (time.Time{}); h.yields < maxYields {
			h.since = time.Now()
		}
		err := apply()
		h.since = time.Time{}
		if x.result.conflict != nil {
			err = x.result.conflict
		}
		blocker, paused := x.result.blocker, x.evaluation.paused()
		if blocker == nil && !paused {
			return cmp.Or(x.evaluation.ended, err)
		}
		x.rollbackLocked(&before, notes)
		if paused {
			err = x.pauseLocked()
		} else {
			err = x.releasedLocked(func() error {
				return x.awaitToWriteLocked(func() bool { return blocker.State != replica.Running })
			})
		}
		if err != nil {
			return err
		}
		before.since = x.client.member.Data.Log.Last()
	}
}

// pauseLocked evaluates what takes long without the mutex.
func (x *call) pauseLocked() error {
	h := &x.evaluation.lock
	h.yields++
	x.evaluation.ended = nil
	x.evaluation.work.Restart()
	if h.slow == nil {
		h.yields = maxYields // nobody knows how to go on without the mutex
		return nil
	}
	return x.releasedLocked(func() error {
		x.client.set.Unlock()
		defer x.client.set.Lock()
		h.slow()
		return x.evaluation.ended
	})
}

// yieldLocked gives up the mutex if the command has had it for long. A command keeps it if something else is to be done with all that it wrote.
func (x *call) yieldLocked() error {
	if time.Since(x.evaluation.lock.acquired) < maxLockHold || x.command.afterApply != nil {
		return nil
	}
	return x.releasedLocked(func() error {
		x.client.set.Unlock()
		defer x.client.set.Lock()
		runtime.Gosched() // else who waits would find the mutex taken again
		return x.checkInterrupt()
	})
}

// releasedLocked runs wait, which gives up the mutex and takes it again. It returns why the command cannot go on, nil if it can.
func (x *call) releasedLocked(wait func() error) error {
	h := &x.evaluation.lock
	h.since = time.Time{} // what was written before stays
	if err := x.failWriteLocked(); err != nil {
		x.evaluation.ended = err
		return err
	}
	h.releases++
	if x.result.within == nil {
		x.client.member.PublishLocked()
	}
	h.locked = false
	err := wait()
	if err == nil {
		err = x.stillWritableLocked()
	}
	x.takenLocked()
	x.evaluation.ended = err
	return err
}

// takenLocked notes that the command has taken the mutex.
func (x *call) takenLocked() {
	h := &x.evaluation.lock
	h.acquired, h.from, h.locked = time.Now(), x.client.member.Data.Log.Last(), true
}

// beforeUnit is what a unit of a write goes back to if it is executed again.
type beforeUnit struct {
	since   int64 // the end of the log
	within  replica.Savepoint
	result  result
	applied bool // a document of the same statement was written before
}

func (x *call) savepointLocked(notes []*journal.Entry) beforeUnit {
	b := beforeUnit{since: x.client.member.Data.Log.Last(), result: x.result}
	if t := x.result.within; t != nil {
		b.within = t.Savepoint()
	}
	b.applied = len(notes) == 1 && notes[0].Outcome.Applied.Load()
	return b
}

// rollbackLocked undoes what a unit of a write did, which nobody has seen.
func (x *call) rollbackLocked(b *beforeUnit, notes []*journal.Entry) {
	x.client.member.RollbackLocked(b.since)
	if t := b.result.within; t != nil {
		t.RollbackLocked(b.within)
	}
	x.result = b.result
	for _, note := range notes {
		note.ErrorCode, note.Deduplicated = 0, false
		note.Outcome.Reset()
		note.Outcome.Applied.Store(b.applied)
	}
}

// statementsLocked executes the n statements of a write command by one, each as a unit, and calls done with what each did. One reports whether
// its statement went well. An ordered command ends with the first that failed.
func (x *call) statementsLocked(n int, ordered bool, one func(i int, o *outcome) bool, done func(i int, o *outcome)) error {
	var o outcome
	for i := range n {
		ok := false
		err := x.unitLocked(x.result.entries[i:i+1], func() error {
			o = outcome{}
			ok = one(i, &o)
			return nil
		})
		if err != nil {
			return err
		}
		done(i, &o)
		if !ok && ordered {
			x.result.entries = x.result.entries[:i+1]
			break
		}
	}
	return nil
}
