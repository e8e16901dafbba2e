package couchbase

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
	"github.com/holdfast-db/holdfast/retry"
)

// The times between two looks at a copy of a document.
const (
	leastObservePause = time.Millisecond
	mostObservePause  = 100 * time.Millisecond
)

// mostObserveTime is the longest time for which one copy is asked.
const mostObserveTime = time.Second

// neverAgain is the strategy of looks at a copy: the next look follows anyway.
var neverAgain = retry.StrategyFunc(func(context.Context, retry.OperationState, retry.Failure) (retry.Action, error) {
	return retry.Decline(retry.StopStrategyDeclined), nil
})

// seen is what a node has of a write.
type seen struct{ inMemory, onDisk bool }

// done reports whether no other look at the copy is needed.
func (s seen) done(d durability) bool { return s.onDisk || s.inMemory && d.persistTo == 0 }

// report is the news of one copy.
type report struct {
	copyIndex int
	seen      seen
	err       error // it ends the wait
}

// observeDurability waits until the copies of the document that the options ask for have the write. It asks all copies at once.
func (c *kvCall) observeDurability(result *MutationResult) error {
	d := c.durability
	if !d.observed() {
		return nil
	}
	copies := c.collection.bucket.copies()
	if !d.possibleWith(copies) {
		return c.notObserved(ErrDurabilityImpossible, fmt.Errorf("couchbase: the write was applied, but the document has only %d copies", copies))
	}
	ctx := c.options.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithDeadline(ctx, c.Began.Add(c.timeout(c.collection.bucket.cluster)))
	w := &watch{call: c, result: result, reports: make(chan report), enough: make(chan struct{}), cancel: cancel}
	defer close(w.enough)
	w.running.Store(int32(copies)) //nolint:gosec // there are at most four
	for i := range copies {
		go w.ask(ctx, i)
	}
	for have := make([]seen, copies); !d.satisfiedBy(have); {
		select {
		case r := <-w.reports:
			if r.err != nil {
				return r.err
			}
			have[r.copyIndex] = r.seen
		case <-ctx.Done():
			return c.notSeenYet(ctx)
		}
	}
	return nil
}

// watch is the looks at the copies of one write. It may end later than the write: a look that is not needed any more is not cancelled,
// because its reply would then be an orphan.
type watch struct {
	call    *kvCall
	result  *MutationResult
	reports chan report
	enough  chan struct{} // closed when nobody reads reports any more
	running atomic.Int32  // the copies that are asked; the last one calls cancel
	cancel  context.CancelFunc
}

// ask asks one copy until it has all, or nobody wants to know.
func (w *watch) ask(ctx context.Context, copyIndex int) {
	defer func() {
		if w.running.Add(-1) == 0 {
			w.cancel()
		}
	}()
	for pause := leastObservePause; ; pause = min(2*pause, mostObservePause) {
		s, err := w.call.lookAt(ctx, w.result, copyIndex)
		switch {
		case err == nil, errors.Is(err, ErrMutationLost), errors.Is(err, ErrDurabilityAmbiguous):
		case w.call.durability.possibleWith(w.call.liveCopies()):
			err = nil // the copy may answer the next time
		default:
			err = w.call.notObserved(ErrDurabilityAmbiguous, errors.New("couchbase: the write was applied, but too few copies of the document have a node now"))
		}
		select {
		case w.reports <- report{copyIndex, s, err}:
		case <-w.enough:
			return
		}
		if err != nil || s.done(w.call.durability) {
			return
		}
		select {
		case <-w.enough:
			return
		case <-time.After(pause):
		}
	}
}

// checkCopies refuses a write that too few copies of the document can have, if the number of copies is known already.
func (c *kvCall) checkCopies() error {
	copies := c.collection.bucket.copies()
	if copies == 0 {
		return nil
	}
	live := c.liveCopies()
	if c.durability.possibleWith(live) {
		return nil
	}
	return fmt.Errorf("couchbase: PersistTo is %d and ReplicateTo is %d, but a document of the bucket has %d copies, of which %d have a node; nothing was sent%w",
		c.durability.persistTo, c.durability.replicateTo, copies, live, silent{ErrDurabilityImpossible})
}

// possibleWith reports whether a document with so many copies can be so safe.
func (d durability) possibleWith(copies int) bool {
	return d.persistTo <= uint(copies) && (d.replicateTo == 0 || d.replicateTo < uint(copies))
}

// satisfiedBy reports whether enough copies have the write. The first is the active node's.
func (d durability) satisfiedBy(have []seen) bool {
	var onDisk, replicas uint
	for i, s := range have {
		if s.onDisk {
			onDisk++
		}
		if i > 0 && s.inMemory {
			replicas++
		}
	}
	return onDisk >= d.persistTo && replicas >= d.replicateTo
}

// lookAt asks one copy, by the write's sequence number if the server told it, and by the document's CAS otherwise.
func (c *kvCall) lookAt(ctx context.Context, result *MutationResult, copyIndex int) (seen, error) {
	bucket := c.collection.bucket
	q := operation.Operation{Bucket: bucket.bucket, Replica: copyIndex, Idempotency: retry.ReadOnly, Strategy: neverAgain}
	if token := result.token; token != nil {
		q.Name, q.Opcode, q.VBucket = kvObserveSeq.name, kvObserveSeq.opcode, token.vbucket
		q.Value = binary.BigEndian.AppendUint64(nil, token.token.VBucketUUID)
	} else {
		q.Name, q.Opcode, q.Collection, q.Key = kvObserve.name, kvObserve.opcode, c.collection.collection, c.Key
	}
	var answer operation.Result
	if err := bucket.cluster.runner.Run(ctx, mostObserveTime, &q, &answer); err != nil {
		return seen{}, err
	}
	if token := result.token; token != nil {
		return c.seenBySeqno(token.token, answer.Packet.Value)
	}
	return c.seenByCAS(result.cas, answer.Packet.Value)
}

// seenBySeqno reads the answer to OBSERVE_SEQNO.
func (c *kvCall) seenBySeqno(token memd.MutationToken, answer []byte) (seen, error) {
	o, err := memd.ParseObservedSeqno(answer)
	if err != nil {
		return seen{}, err
	}
	switch {
	case o.FailedOver && o.OldSeqno < token.Seqno:
		return seen{}, c.notObserved(ErrMutationLost, errors.New("couchbase: the node that had the write failed over before it was replicated"))
	case !o.FailedOver && o.VBucketUUID != token.VBucketUUID:
		return seen{}, c.notObserved(ErrDurabilityAmbiguous, errors.New("couchbase: the history of the vbucket is another one now"))
	}
	return seen{inMemory: o.Current >= token.Seqno, onDisk: o.Persisted >= token.Seqno}, nil
}

// seenByCAS reads the answer to OBSERVE.
func (c *kvCall) seenByCAS(cas Cas, answer []byte) (seen, error) {
	state, seenCAS, err := memd.ParseObserved(answer)
	if err != nil {
		return seen{}, err
	}
	removal := c.kind == kvRemove
	switch state {
	case memd.KeyInMemory:
		return seen{inMemory: !removal && Cas(seenCAS) == cas}, nil
	case memd.KeyPersisted:
		have := !removal && Cas(seenCAS) == cas
		return seen{inMemory: have, onDisk: have}, nil
	case memd.KeyNotFound:
		return seen{inMemory: removal}, nil
	case memd.KeyDeletedPersisted:
		return seen{inMemory: removal, onDisk: removal}, nil
	}
	return seen{}, nil
}

// notSeenYet is the error of a wait that ended with its context.
func (c *kvCall) notSeenYet(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return c.notObserved(ErrRequestCanceled, fmt.Errorf("couchbase: the write was applied, but the wait for its copies was cancelled: %w", context.Cause(ctx)))
	}
	return c.notObserved(ErrAmbiguousTimeout, fmt.Errorf("couchbase: the write was applied, but its copies were not seen in time: %w", context.Cause(ctx)))
}

// notObserved is the error of a write that was applied, but not seen on enough copies.
func (c *kvCall) notObserved(kind, cause error) error {
	col := c.collection
	if errors.Is(kind, ErrTimeout) {
		return &TimeoutError{InnerError: timedOut(kind, cause), OperationID: c.kind.id, TimeObserved: time.Since(c.Began), LastDispatchedTo: c.result.Conn.Address()}
	}
	return &KeyValueError{
		InnerError: &failure{kind, cause}, DocumentID: string(c.Key), BucketName: col.bucket.name, ScopeName: col.scope, CollectionName: col.name,
		CollectionID: c.result.CollectionID, LastDispatchedTo: c.result.Conn.Address(), LastConnectionID: c.result.Conn.ID(),
	}
}

// liveCopies returns the number of copies of the document that have a node by the newest map, with the active one.
func (c *kvCall) liveCopies() int {
	return c.collection.bucket.bucket.Snapshot().Map.LiveCopies(c.Key)
}

// copies returns the number of copies of each document, with the active one, or 0 if it is not known yet.
func (b *Bucket) copies() int {
	s := b.bucket.Snapshot()
	if s == nil {
		return 0
	}
	return 1 + s.Map.Replicas
}
