package retry

import (
	"context"
	"errors"
	"time"
)

// ErrAttemptTimeout is the cause with which the context of an attempt ends after [Options.AttemptTimeout]. errors.Is finds
// context.DeadlineExceeded in it.
var ErrAttemptTimeout error = attemptTimeout{}

type attemptTimeout struct{}

// Error implements error.
func (attemptTimeout) Error() string { return "retry: the attempt reached its time limit" }

// Timeout reports true, like that of the error it stands for.
func (attemptTimeout) Timeout() bool { return true }

// Unwrap returns the error with which the context itself ends.
func (attemptTimeout) Unwrap() error { return context.DeadlineExceeded }

// within returns the attempt with a time limit for each call.
func within(limit time.Duration, attempt AttemptFunc) AttemptFunc {
	return func(ctx context.Context, n int) Failure {
		limited, cancel := context.WithTimeoutCause(ctx, limit, ErrAttemptTimeout)
		defer cancel()
		failure := attempt(limited, n)
		if failure.Err != nil && failure.Reason == ReasonUnknown && failure.Stage != StageAnswered &&
			ctx.Err() == nil && errors.Is(context.Cause(limited), ErrAttemptTimeout) {
			failure.Reason = ReasonAttemptTimeout
		}
		return failure
	}
}
