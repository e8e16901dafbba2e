package retry

import (
	"context"
	"fmt"
)

// limited limits a strategy that is not a [rule].
type limited struct {
	attempts int
	strategy Strategy
}

// Limited returns the strategy that makes at most so many attempts, with the first, and follows another strategy until then.
// attempts must be at least 1.
func Limited(attempts int, strategy Strategy) Strategy {
	if attempts < 1 {
		return &invalid{fmt.Errorf("Limited: attempts is %d; it must be at least 1", attempts)}
	}
	if err := checkStrategy(strategy); err != nil {
		return &invalid{fmt.Errorf("Limited: strategy: %w", err)}
	}
	if r, ok := strategy.(*rule); ok {
		return &rule{attempts: min(attempts, r.attempts), delay: r.delay}
	}
	return &limited{attempts, strategy}
}

// RetryAfter implements [Strategy].
func (l *limited) RetryAfter(ctx context.Context, state OperationState, failure Failure) (Action, error) {
	if state.Retries+1 >= l.attempts {
		return Decline(StopAttemptsUsed), nil
	}
	return l.strategy.RetryAfter(ctx, state, failure)
}
