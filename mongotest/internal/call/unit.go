package call

import (
	"cmp"
	"runtime"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// A unit of work of a write, here a unit for short, is a statement, or one document of those that it is about. It is undone if it must be
// executed again. Outside of a transaction, others may read and write between two units, as in the real server.

// Unit runs apply as one unit of a write, after it gave up the set's mutex if that has been held for long. Notes are the journal's entries
// for the unit. Apply may run more than once, see attempt. If it has units itself, it writes nothing else after the first.
func (x Locked) Unit(notes []*journal.Entry, apply func() error) error {
	if err := yield(x); err != nil {
		return err
	}
	return attempt(x, notes, apply)
}

// attempt runs apply, and again when the transaction that was in its way has ended, or what took long has been evaluated. It undoes
// what apply did and gives up the mutex for that. So apply begins by forgetting what it noted before.
func attempt(x Locked, notes []*journal.Entry, apply func() error) error {
	h := &x.Evaluation.lock
	h.yields = 0
	h.memo.reset()
	before := savepoint(x, notes)
	for {
		h.slow = nil
		h.memo.again()
		if h.attemptBegan = (time.Time{}); h.yields < maxYields {
			h.attemptBegan = time.Now()
		}
		err := apply()
		h.attemptBegan = time.Time{}
		if x.Result.Conflict != nil {
			err = x.Result.Conflict
		}
		blocker, paused := x.Result.blocker, x.Evaluation.Paused()
		if blocker == nil && !paused {
			return cmp.Or(x.Evaluation.Ended, err)
		}
		rollback(x, &before, notes)
		if paused {
			err = pause(x)
		} else {
			err = withoutMutex(x, func() error {
				return awaitToWrite(x, func() bool { return blocker.State != replica.Running })
			})
		}
		if err != nil {
			return err
		}
		before.logEnd = x.Client.Member.Data.Log.Last()
	}
}

// pause evaluates what takes long without the mutex.
func pause(x Locked) error {
	h := &x.Evaluation.lock
	h.yields++
	x.Evaluation.Ended = nil
	x.Evaluation.work.Restart()
	if h.slow == nil {
		h.yields = maxYields // nobody knows how to go on without the mutex
		return nil
	}
	return withoutMutex(x, func() error {
		x.Client.Set.Unlock()
		defer x.Client.Set.Lock()
		h.slow()
		return x.Evaluation.Ended
	})
}

// yield gives up the mutex if the command has had it for long. A command keeps it if a fault's AfterApply is to see all that it wrote at once.
func yield(x Locked) error {
	if time.Since(x.Evaluation.lock.acquired) < maxLockHold || x.Command.AfterApply != nil {
		return nil
	}
	return withoutMutex(x, func() error {
		x.Client.Set.Unlock()
		defer x.Client.Set.Lock()
		runtime.Gosched() // else who waits would find the mutex taken again
		return checkInterrupt(x.Call)
	})
}

// withoutMutex runs wait, which gives up the mutex and takes it again. It returns why the command cannot go on, nil if it can.
func withoutMutex(x Locked, wait func() error) error {
	h := &x.Evaluation.lock
	h.attemptBegan = time.Time{} // what was written before stays
	if err := failWrite(x); err != nil {
		x.Evaluation.Ended = err
		return err
	}
	h.releases++
	if x.Result.Within == nil {
		x.Client.Member.PublishLocked()
	}
	h.locked = false
	err := wait()
	if err == nil {
		err = recheckWritable(x)
	}
	taken(x)
	x.Evaluation.Ended = err
	return err
}

// taken notes that the command has taken the mutex.
func taken(x Locked) {
	h := &x.Evaluation.lock
	h.acquired, h.logEnd, h.locked = time.Now(), x.Client.Member.Data.Log.Last(), true
}

// beforeUnit is what a unit of a write goes back to if it is executed again.
type beforeUnit struct {
	logEnd  int64 // the end of the log
	within  replica.Savepoint
	result  Result
	applied bool // a document of the same statement was written before
}

func savepoint(x Locked, notes []*journal.Entry) beforeUnit {
	b := beforeUnit{logEnd: x.Client.Member.Data.Log.Last(), result: x.Result}
	if t := x.Result.Within; t != nil {
		b.within = t.SavepointLocked()
	}
	b.applied = len(notes) == 1 && notes[0].Outcome.Applied.Load()
	return b
}

// rollback undoes what a unit of a write did, which nobody has seen.
func rollback(x Locked, b *beforeUnit, notes []*journal.Entry) {
	x.Client.Member.RollbackLocked(b.logEnd)
	if t := b.result.Within; t != nil {
		t.RollbackLocked(b.within)
	}
	x.Result = b.result
	for _, note := range notes {
		note.ErrorCode, note.Deduplicated = 0, false
		note.Outcome.Reset()
		note.Outcome.Applied.Store(b.applied)
	}
}

// Statements executes the n statements of a write command by one, each as a unit, and calls done with what each did. One reports whether
// its statement went well. An ordered command ends with the first that failed.
func (x Locked) Statements(n int, ordered bool, one func(i int, o *Outcome) bool, done func(i int, o *Outcome)) error {
	var o Outcome
	for i := range n {
		ok := false
		err := x.Unit(x.Result.Entries[i:i+1], func() error {
			o = Outcome{}
			ok = one(i, &o)
			return nil
		})
		if err != nil {
			return err
		}
		done(i, &o)
		if !ok && ordered {
			x.Result.Entries = x.Result.Entries[:i+1]
			break
		}
	}
	return nil
}
