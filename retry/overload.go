package retry

import (
	"context"
	"fmt"
)

type overload struct {
	retries   int
	otherwise Strategy
}

// Overload returns the strategy of the MongoDB specification for client backpressure. An overloaded server
// ([ReasonOverloaded]) is retried after a random, growing delay: see [OverloadBackoff]. Once an attempt met an overloaded
// server, the operation makes at most so many retries in all, and those after other failures are made at once. Without an
// overloaded server the other strategy decides.
//
// retries is MongoDB's maxAdaptiveRetries, in its specification 2 by default; it must not be negative.
func Overload(retries int, otherwise Strategy) Strategy {
	if retries < 0 {
		return &invalid{fmt.Errorf("Overload: retries is %d; it must not be negative", retries)}
	}
	if err := checkStrategy(otherwise); err != nil {
		return &invalid{fmt.Errorf("Overload: otherwise: %w", err)}
	}
	return &overload{retries, otherwise}
}

// RetryAfter implements [Strategy].
func (o *overload) RetryAfter(ctx context.Context, state OperationState, failure Failure) (Action, error) {
	overloaded := failure.Reason == ReasonOverloaded
	switch {
	case !overloaded && !state.Reasons.Has(ReasonOverloaded):
		return o.otherwise.RetryAfter(ctx, state, failure)
	case state.Retries >= o.retries:
		return Decline(StopAttemptsUsed), nil
	case overloaded:
		return After(OverloadBackoff(state.Retries+1, failure.BaseBackoff)), nil
	default:
		return After(0), nil
	}
}
