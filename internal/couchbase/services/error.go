package services

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// Error is the error of a request. It holds no credential.
type Error struct {
	Kind ErrorKind
	// Cause is, of a timeout, the meaning of the last attempt that had one; else KindOther.
	Cause   ErrorKind
	Service clustermap.Service
	Address string  // of the last node that was asked; "": none was
	Answer  *Answer // the last answer of a service; nil: there was none
	Retries int
	Reasons []retry.Reason // why there were retries, each once
	// OutcomeKnown means that the request certainly changed nothing, or that sending it again does no harm.
	OutcomeKnown bool
	Err          error // often a *retry.Error
}

// Error returns the kind and what happened.
func (e *Error) Error() string {
	if e.Answer != nil && e.Answer.Kind == e.Kind {
		return e.Err.Error() // it begins with the kind
	}
	return fmt.Sprintf("%v: %v", e.Kind, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether the error has a kind: its own, or that of its cause.
func (e *Error) Is(target error) bool {
	k, ok := target.(KindError)
	return ok && (e.Kind == k.Kind || e.Cause == k.Kind && k.Kind != KindOther)
}

// KindError is a target for errors.Is.
type KindError struct{ Kind ErrorKind }

// Error returns the kind in words.
func (k KindError) Error() string { return k.Kind.String() }

// failed turns an error of the engine into the request's. late means that the deadline has passed, also if a timer is late and the
// operation's context has not ended yet: then an attempt that ended because time was up is the timeout of the operation.
func failed(r *Request, late bool, err error) error {
	var history *retry.Error
	if !errors.As(err, &history) {
		return &Error{Kind: KindInvalidArgument, Service: r.Service, OutcomeKnown: true, Err: err}
	}
	e := &Error{
		Service: r.Service, Err: history, Retries: history.Total - 1, OutcomeKnown: history.OutcomeKnown(),
		Reasons: reasons(history),
	}
	last := KindOther // the meaning of the last attempt that had one
	for _, a := range slices.Backward(history.Attempts) {
		if e.Address == "" {
			e.Address = a.Endpoint
		}
		if e.Answer == nil {
			errors.As(a.Err, &e.Answer)
		}
		if last == KindOther {
			last = failureKind(&a.Failure)
		}
	}
	var ended error
	switch history.StopReason() { //nolint:exhaustive // the others are no end of the context
	case retry.StopCancelled:
		ended = context.Canceled
		if errors.Is(err, ErrClosed) {
			ended = ErrClosed
		}
	case retry.StopDeadlineWouldPass:
		ended = context.DeadlineExceeded
	}
	final := history.Last()
	if ended == nil && late && isTimeout(&final.Failure) {
		ended = context.DeadlineExceeded
	}
	e.Kind = endKind(ended, &final.Failure, e.OutcomeKnown)
	if isDeadline(ended) {
		e.Cause = last
	}
	return e
}

// isTimeout reports whether an attempt ended because time was up, and without an answer.
func isTimeout(f *retry.Failure) bool {
	var answer *Answer
	var timeout interface{ Timeout() bool }
	return !errors.As(f.Err, &answer) && (isDeadline(f.Err) || errors.As(f.Err, &timeout) && timeout.Timeout())
}

// endKind is the kind of error of an operation that ended with a failure, whatever its service and wherever its deadline fell. ended is
// why the operation ended before its request, or nil.
func endKind(ended error, f *retry.Failure, outcomeKnown bool) ErrorKind {
	switch {
	case isDeadline(ended):
		return timeoutKind(outcomeKnown)
	case ended != nil:
		return cancelledKind(ended, f.Err)
	default:
		return failureKind(f)
	}
}

// endedEarly is the error of a result whose rows ended with a failure: no row may be lost or come twice, so there is no retry.
// A statement that changes documents may have changed some of them.
func endedEarly(x *exchange, f *retry.Failure) *Error {
	e := &Error{
		Service: x.request.Service, Address: x.address, Err: f.Err, OutcomeKnown: x.request.Idempotency != retry.NotIdempotent,
	}
	errors.As(f.Err, &e.Answer)
	e.Kind = endKind(x.parent.Err(), f, e.OutcomeKnown)
	return e
}

func timeoutKind(outcomeKnown bool) ErrorKind {
	if outcomeKnown {
		return KindUnambiguousTimeout
	}
	return KindAmbiguousTimeout
}

func cancelledKind(ended, err error) ErrorKind {
	if errors.Is(ended, ErrClosed) || errors.Is(err, ErrClosed) {
		return KindClosed
	}
	return KindRequestCancelled
}

// failureKind is the meaning of one failed attempt.
func failureKind(f *retry.Failure) ErrorKind {
	var answer *Answer
	if errors.As(f.Err, &answer) {
		return answer.Kind
	}
	switch f.Reason {
	case couchbasereason.ServiceNotAvailable:
		return KindServiceNotAvailable
	case couchbasereason.SocketClosedInFlight, couchbasereason.SocketNotAvailable, couchbasereason.NodeNotAvailable:
		return KindRequestCancelled
	default:
		return KindOther
	}
}

// reasons returns the reasons for which attempts were repeated, or would have been if time had not run out, each once.
func reasons(history *retry.Error) []retry.Reason {
	var all []retry.Reason
	add := func(r retry.Reason) {
		if r != retry.ReasonUnknown && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	for i, a := range history.Attempts {
		if i > 0 && i == len(history.Attempts)-len(history.Attempts)/2 {
			for _, o := range history.Omitted {
				add(o.Reason)
			}
		}
		if a.StopReason == retry.NotStopped || a.StopReason == retry.StopDeadlineWouldPass {
			add(a.Reason)
		}
	}
	return all
}
