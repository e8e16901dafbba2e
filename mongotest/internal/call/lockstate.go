package call

import (
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

const (
	// maxLockHold is how long a write keeps the set's mutex: for the evaluation of filters and updates in one unit, and for several units.
	maxLockHold = 2 * time.Millisecond
	// maxYields is how often a unit of a write gives up the mutex for its evaluation. After that it keeps it.
	maxYields = 50
)

// lockState is how a write holds the set's mutex. If the evaluation in a unit takes too long, what the unit has done is undone, what takes long is
// evaluated without the mutex, and the unit is executed again, with the results of these evaluations.
type lockState struct {
	attemptBegan time.Time // when the attempt at a unit began; zero if its evaluation may take as long as it wants
	acquired     time.Time // when the mutex was acquired
	logEnd       int64     // the end of the log then
	cut          bool      // a fail point closes the connection
	locked       bool      // the mutex is held
	releases     int       // how often it was given up
	yields       int       // of the unit
	slow         func()    // evaluates what takes long
	memo         memo
}

// errHeldTooLong ends an evaluation that goes on without the mutex. Nobody else sees it.
var errHeldTooLong = errors.New("mongotest: the evaluation goes on without the set's mutex")

// heldTooLong reports whether a write is to give up the mutex. One with scripts does so before it runs the first.
func heldTooLong(x *Call, now time.Time) bool {
	since := x.Evaluation.lock.attemptBegan
	long := x.Evaluation.script != nil || now.Sub(since) >= maxLockHold
	return !since.IsZero() && long
}

// Paused reports whether the evaluation ended because it held the mutex for too long.
func (e *Evaluation) Paused() bool { return errors.Is(e.Ended, errHeldTooLong) }

// noteSlow notes how to go on with an evaluation if it held the mutex for too long.
func noteSlow(x *Call, err error, evaluate func()) {
	if err != nil && x.Evaluation.Paused() {
		x.Evaluation.lock.slow = evaluate
	}
}

// Memoized returns what an evaluation finds out, which may be known already.
func (x Locked) Memoized(q MemoKey, evaluate func() ([]byte, error)) ([]byte, error) {
	if known, ok := x.Evaluation.lock.memo.known[q]; ok {
		return known.doc, known.err
	}
	doc, err := evaluate()
	noteSlow(x.Call, err, func() { evaluateUnlocked(x.Call, q, evaluate) })
	if err == nil {
		x.Evaluation.lock.memo.note(q, doc)
	}
	return doc, err
}

// evaluateUnlocked evaluates without the mutex.
func evaluateUnlocked(x *Call, q MemoKey, evaluate func() ([]byte, error)) {
	doc, err := evaluate()
	if x.Evaluation.Ended != nil {
		return
	}
	x.Evaluation.lock.memo.store(q, memoValue{doc, err})
}

// recheckWritable returns why a write that had given up the mutex cannot go on, nil if it can. A real server says PrimarySteppedDown in the middle
// of a command, and NotWritablePrimary only before it begins one: so a client knows whether a part may be applied.
func recheckWritable(x Locked) error {
	if x.Client.gone() {
		return ErrHangUp
	}
	if t := x.Result.Within; t != nil {
		err := x.AwaitUnlock()
		if t.State != replica.Running {
			return mongoerr.Errorf(mongoerr.NoSuchTransaction, "Transaction with { txnNumber: %d } has been aborted.", x.Command.Txn)
		}
		return err
	}
	err := checkWritable(x)
	if demoted(x) && !errors.Is(err, ErrHangUp) {
		return mongoerr.Errorf(mongoerr.PrimarySteppedDown, "not primary while writing to %s", x.Command.Full)
	}
	return err
}
