package retry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Record is one failed attempt and the decision about it.
type Record struct {
	Failure
	Delay time.Duration // the delay that was decided after it
	Why   Why           // why there was, or was not, another attempt
}

// Error is the error of an operation that failed. It holds every attempt. errors.Is and errors.As find in it the error of the
// last attempt and, where the end of the context ended the operation, context.DeadlineExceeded or context.Canceled with the
// context's cause. It is immutable.
type Error struct {
	// Attempts are all failed attempts in order; at least one.
	Attempts []Record

	effect Effect
	end    []error // context.DeadlineExceeded or context.Canceled with its cause, if that ended the operation
}

func newError(ctx context.Context, effect Effect, attempts []Record) *Error {
	e := &Error{Attempts: attempts, effect: effect}
	switch e.Why() {
	case WhyDeadlineWouldPass:
		e.endedBy(ctx, context.DeadlineExceeded)
	case WhyCancelled:
		e.endedBy(ctx, context.Canceled)
	case WhyUndecided, WhyRetried, WhyNotRetryable, WhyNotIdempotent, WhyStrategyDeclined, WhyAttemptsUsed, WhyBudgetEmpty, WhyBreakerOpen,
		WhyNoServer, WhyUnsupportedServer, WhyInTransaction, WhyDisabled, WhyNotBuilt:
	}
	return e
}

// endedBy adds the context's error and, if the context has ended, its cause.
func (e *Error) endedBy(ctx context.Context, end error) {
	e.end = []error{end}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(end, cause) {
		e.end = append(e.end, cause)
	}
}

// Last returns the record of the last attempt.
func (e *Error) Last() Record { return e.Attempts[len(e.Attempts)-1] }

// Why returns why there was no further attempt.
func (e *Error) Why() Why { return e.Last().Why }

// OutcomeKnown reports whether the error is unambiguous: the operation was certainly not applied, or doing it again does no
// harm. It depends on the attempts that were really made (Couchbase's RFC 0058, timeouts #13 and #14).
func (e *Error) OutcomeKnown() bool {
	if e.effect != EffectNotIdempotent {
		return true
	}
	for i := range e.Attempts {
		if e.Attempts[i].mayHaveApplied() {
			return false
		}
	}
	return true
}

// Error returns the last attempt's error, followed by [Error.History].
func (e *Error) Error() string {
	return fmt.Sprintf("%v (%s)", e.Last().Err, e.History())
}

// History returns all attempts on one line: endpoint, stage, reason and error of each, and why there was no further one.
func (e *Error) History() string {
	var b strings.Builder
	plural := "s"
	if len(e.Attempts) == 1 {
		plural = ""
	}
	fmt.Fprintf(&b, "%d attempt%s:", len(e.Attempts), plural)
	for i, a := range e.Attempts {
		fmt.Fprintf(&b, " [%d%s, %s, %s: %v]", i+1, at(a.Endpoint), a.Stage, a.Reason, a.Err)
	}
	fmt.Fprintf(&b, " no more: %s", e.Why())
	return b.String()
}

func at(endpoint string) string {
	if endpoint == "" {
		return ""
	}
	return " at " + endpoint
}

// Unwrap returns the last attempt's error; if a breaker stopped that attempt, also the error of the last attempt that was
// made; and if the end of the context ended the operation, its error and its cause.
func (e *Error) Unwrap() []error {
	errs := []error{e.Last().Err}
	for i := len(e.Attempts) - 1; i > 0 && e.Attempts[i].Reason == ReasonCircuitBreakerOpen; i-- {
		if e.Attempts[i-1].Reason != ReasonCircuitBreakerOpen {
			errs = append(errs, e.Attempts[i-1].Err)
		}
	}
	return append(errs, e.end...)
}
