package retry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Record is one failed attempt and the verdict about it.
type Record struct {
	Failure
	Delay time.Duration // that was to follow it
	Why   Why           // why there was, or was not, another attempt
}

// Error is returned for an operation that failed: it holds every attempt. errors.Is and errors.As see through it to the
// last real error and, where the context's end stopped the retries, to that and its cause. It is immutable.
type Error struct {
	// Attempts are all failed attempts in their order; there is at least one.
	Attempts []Record

	effect Effect
	end    []error // context.DeadlineExceeded or context.Canceled with its cause, if that is why it ended
}

func newError(ctx context.Context, effect Effect, history []Record) *Error {
	e := &Error{Attempts: history, effect: effect}
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

// endedBy adds the context's end and, where it has come, its cause.
func (e *Error) endedBy(ctx context.Context, end error) {
	e.end = []error{end}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(end, cause) {
		e.end = append(e.end, cause)
	}
}

// Last returns the last attempt's record.
func (e *Error) Last() Record { return e.Attempts[len(e.Attempts)-1] }

// Why returns why there were no more attempts.
func (e *Error) Why() Why { return e.Last().Why }

// OutcomeKnown tells whether the error is unambiguous: the operation has certainly not been applied, or doing it again
// does no harm. It is decided from the attempts really made (RFC 0058, timeouts #13 and #14).
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

// Error returns the last error with the number of attempts and why there were no more.
func (e *Error) Error() string {
	return fmt.Sprintf("%v (%s)", e.Last().Err, e.History())
}

// History returns all attempts on one line: where, how far, for which reason, and why there were no more.
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

// Unwrap returns the last attempt's error, or if a breaker stopped that one also the error of the last that was made; and, if
// the context's end stopped the retries, that and its cause.
func (e *Error) Unwrap() []error {
	errs := []error{e.Last().Err}
	for i := len(e.Attempts) - 1; i > 0 && e.Attempts[i].Reason == ReasonCircuitBreakerOpen; i-- {
		if e.Attempts[i-1].Reason != ReasonCircuitBreakerOpen {
			errs = append(errs, e.Attempts[i-1].Err)
		}
	}
	return append(errs, e.end...)
}
