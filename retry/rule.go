package retry

import (
	"context"
	"math"
	"time"
)

// rule is a strategy that looks only at the number of retries. The engine follows it without copying the state and the
// failure, so that a retry at once costs no memory.
type rule struct {
	attempts int                             // at most, with the first
	delay    func(retries int) time.Duration // nil: at once
}

// unlimited is a number of attempts that no operation reaches.
const unlimited = math.MaxInt

// RetryAfter implements [Strategy].
func (r *rule) RetryAfter(_ context.Context, state OperationState, _ Failure) (Action, error) {
	if !r.allows(state.Retries) {
		return Decline(StopAttemptsUsed), nil
	}
	return After(r.delayAfter(state.Retries)), nil
}

// allows reports whether there may be another attempt after so many retries.
func (r *rule) allows(retries int) bool { return retries+1 < r.attempts }

func (r *rule) delayAfter(retries int) time.Duration {
	if r.delay == nil {
		return 0
	}
	return r.delay(retries)
}

var (
	once          = Limited(2, UntilDeadline())
	untilDeadline = Strategy(&rule{attempts: unlimited})
)

// RetryOnce returns the strategy that makes one retry, at once. The MongoDB specifications ask for it where an operation has no
// deadline.
func RetryOnce() Strategy { return once } //nolint:revive // the word Once alone would also mean a fault, or exactly once

// UntilDeadline returns the strategy that retries at once, without a limit: only the deadline, or a limit around it, ends the
// retries. Use it where something else slows the attempts down, such as the selection of a server.
func UntilDeadline() Strategy { return untilDeadline }

// BestEffort returns the strategy that retries after growing random delays, without a limit: only the deadline, or a limit
// around it, ends the retries (RFC 0049). The zero options are the RFC's.
func BestEffort(o BackoffOptions) Strategy {
	if err := o.validate(); err != nil {
		return &invalid{err}
	}
	return &rule{attempts: unlimited, delay: o.calculator()}
}
