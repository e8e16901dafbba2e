package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// final makes the error of the operation from that of the engine.
func (r *run) final(err error) error {
	op := r.op
	e := &Error{
		Name: op.Name, Opcode: op.Opcode, Key: slices.Clone(op.Key), SpecIndex: -1, Observed: time.Since(r.began),
		Opaque: r.sent.opaque, DispatchedTo: r.sent.to, DispatchedFrom: r.sent.from, ConnID: r.sent.connID,
	}
	if r.bucket != nil {
		e.Bucket = r.bucket.Name()
	}
	if c := op.Collection; c != nil {
		e.Scope, e.Collection = c.Scope(), c.Name()
	}
	if r.id != nil {
		e.CollectionID = r.id.ID
	}
	var history *retry.Error
	if !errors.As(err, &history) { // the engine refuses the strategy
		e.kinds = []error{ErrInvalidArgument, err}
		return e
	}
	e.History, e.Ambiguous, e.Retries = history, !history.OutcomeKnown(), history.Total-1
	e.Reasons = reasonsOf(history)
	e.describe(history)
	r.ends(e, history.Last())
	return e
}

// describe takes the facts of the last attempt that shows something: the server's answer, and the kinds.
func (e *Error) describe(history *retry.Error) {
	for _, record := range slices.Backward(history.Attempts) {
		var cause *attemptError
		if !errors.As(record.Err, &cause) || cause.ended {
			continue
		}
		e.kinds = append(e.kinds, cause)
		e.Status, e.HasStatus, e.Answer, e.Info, e.Entry = cause.status, cause.hasStatus, cause.answer, cause.info, cause.entry
		if cause.specStatus != memd.StatusSuccess {
			e.SpecIndex = cause.specIndex
		}
		return
	}
}

// ends notes why the operation ended: time had run out, it was cancelled, or its strategy returned an error.
func (r *run) ends(e *Error, last retry.Record) {
	var cause *attemptError
	left := errors.As(last.Err, &cause) && cause.ended
	switch {
	case last.StopReason == retry.StopCancelled:
		e.Cancelled = true
		e.kinds = append(e.kinds, ErrRequestCanceled, context.Canceled)
		e.causeOf(r.caller, context.Canceled)
	case last.StopReason == retry.StopDeadlineWouldPass, left:
		e.TimedOut = true
		kind := ErrUnambiguousTimeout
		if e.Ambiguous {
			kind = ErrAmbiguousTimeout
		}
		e.kinds = append(e.kinds, ErrTimeout, kind)
		if r.byCaller {
			e.kinds = append(e.kinds, context.DeadlineExceeded)
			r.awaitCaller()
			e.causeOf(r.caller, context.DeadlineExceeded)
		}
	case last.StrategyErr != nil:
		e.kinds = append(e.kinds, fmt.Errorf("the retry strategy: %w", last.StrategyErr))
	}
}

// endGrace is how long the end of the caller's context is waited for after its deadline: its timer may fire a little later than ours.
const endGrace = time.Millisecond

// awaitCaller waits until the caller's context has ended, because it has its cause then.
func (r *run) awaitCaller() {
	select {
	case <-r.caller.Done():
	case <-time.After(endGrace): // a context that has a deadline and does not end
	}
}

// causeOf adds the cause with which the caller's context ended, if it is not the usual one.
func (e *Error) causeOf(ctx context.Context, usual error) {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(usual, cause) {
		e.kinds = append(e.kinds, cause)
	}
}

// reasonsOf returns the reasons for which attempts were repeated, or would have been if time had not run out, each once.
func reasonsOf(history *retry.Error) []retry.Reason {
	var all []retry.Reason
	add := func(r retry.Reason) {
		if r != retry.ReasonUnknown && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	for _, a := range history.Attempts {
		if a.StopReason == retry.NotStopped || a.StopReason == retry.StopDeadlineWouldPass {
			add(a.Reason)
		}
	}
	for _, o := range history.Omitted {
		add(o.Reason)
	}
	return all
}
