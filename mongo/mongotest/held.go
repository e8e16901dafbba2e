package mongotest

import (
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
)

const (
	// holdAtMost is how long a write evaluates filters and updates with the set's mutex held.
	holdAtMost = 2 * time.Millisecond
	// mostPauses is how often a write gives up the mutex for its evaluation. After that it keeps it.
	mostPauses = 50
)

// held is the evaluation of a write, which has the set's mutex. If that takes too long, what the write has done is undone, the slow part is
// evaluated without the mutex, and the write is executed again, with what was found out.
type held struct {
	since    time.Time // zero if the mutex is not held, or may be kept
	taken    time.Time // when the mutex was taken for this attempt, or between two of its documents
	locked   bool      // the mutex is held
	pauses   int
	slow     func() // evaluates the slow part
	findings map[question]finding
}

// question is what an evaluation finds out: by what, for which document. Documents never change.
type question struct {
	by  any   // an update, or the options of a collection with a validator
	doc *byte // the place of the document's bytes; nil for an upsert
}

type finding struct {
	doc []byte
	err error
}

// errHeldTooLong ends an evaluation that goes on without the mutex. Nobody else sees it.
var errHeldTooLong = errors.New("mongotest: the evaluation goes on without the set's mutex")

// heldTooLong reports whether a write is to give up the mutex. One with scripts does so before it runs the first.
func (x *exec) heldTooLong(now time.Time) bool {
	since := x.evaluation.held.since
	long := x.evaluation.script != nil || now.Sub(since) >= holdAtMost
	return !since.IsZero() && long
}

// holdLocked begins an attempt of a write.
func (x *exec) holdLocked() {
	h := &x.evaluation.held
	h.locked, h.taken = true, time.Now()
	if h.slow = nil; h.pauses < mostPauses {
		h.since = h.taken
	}
}

// pausedLocked ends an attempt of a write and reports whether it is to be made again after the slow part was evaluated.
func (x *exec) pausedLocked() bool {
	x.evaluation.held.since, x.evaluation.held.locked = time.Time{}, false
	return x.evaluation.paused()
}

// paused reports whether the evaluation ended because it held the mutex for too long.
func (e *evaluation) paused() bool { return errors.Is(e.ended, errHeldTooLong) }

// slowly notes how to go on with an evaluation if it held the mutex for too long.
func (x *exec) slowly(err error, evaluate func()) {
	if err != nil && x.evaluation.paused() {
		x.evaluation.held.slow = evaluate
	}
}

// findingLocked returns what an evaluation finds out, which may be known already.
func (x *exec) findingLocked(q question, evaluate func() ([]byte, error)) ([]byte, error) {
	if known, ok := x.evaluation.held.findings[q]; ok {
		return known.doc, known.err
	}
	doc, err := evaluate()
	x.slowly(err, func() { x.learn(q, evaluate) })
	return doc, err
}

// learn evaluates without the mutex.
func (x *exec) learn(q question, evaluate func() ([]byte, error)) {
	doc, err := evaluate()
	if x.evaluation.ended != nil {
		return
	}
	if x.evaluation.held.findings == nil {
		x.evaluation.held.findings = make(map[question]finding)
	}
	x.evaluation.held.findings[q] = finding{doc, err}
}

// pauseLocked evaluates the slow part of a write without the mutex.
func (x *exec) pauseLocked() error {
	h := &x.evaluation.held
	h.pauses++
	x.evaluation.ended = nil
	x.evaluation.work.Restart()
	if h.slow == nil {
		h.pauses = mostPauses // nobody knows how to go on without the mutex
		return nil
	}
	x.conn.set.mu.Unlock()
	h.slow()
	x.conn.set.mu.Lock()
	if x.evaluation.ended != nil {
		return x.evaluation.ended
	}
	return x.stillWritableLocked()
}

// stillWritableLocked returns why a write that had given up the mutex cannot be made, nil if it can.
func (x *exec) stillWritableLocked() error {
	switch {
	case x.conn.gone():
		return errHangUp
	case x.result.within == nil:
		return x.writableLocked()
	case x.result.within.state != running:
		return mongoerr.Errorf(mongoerr.NoSuchTransaction, "Transaction with { txnNumber: %d } has been aborted.", x.command.txn)
	}
	return x.awaitUnlockLocked()
}
