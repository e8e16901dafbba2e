package retry

import (
	"context"
	"fmt"
)

// Limited limits how often an operation is attempted.
type Limited struct {
	// Attempts is how many at most, with the first; at least 1.
	Attempts int
	// Strategy decides about what is within the limit. Nil means to try again at once.
	Strategy Strategy
}

// RetryAfter implements [Strategy].
func (l Limited) RetryAfter(ctx context.Context, request Request, failure Failure) (Action, error) {
	switch {
	case request.Retries+1 >= l.Attempts:
		return Decline(WhyAttemptsUsed), nil
	case l.Strategy == nil:
		return After(0), nil
	default:
		return l.Strategy.RetryAfter(ctx, request, failure)
	}
}

func (l Limited) rule() (rule, bool) {
	if l.Strategy == nil {
		return rule{attempts: l.Attempts}, true
	}
	r, ok := ruleOf(l.Strategy)
	r.attempts = min(r.attempts, l.Attempts)
	return r, ok
}

func (l Limited) validate() error {
	if l.Attempts < 1 {
		return fmt.Errorf("Limited.Attempts is %d; it must be at least 1", l.Attempts)
	}
	if l.Strategy == nil {
		return nil
	}
	if err := validStrategy(l.Strategy); err != nil {
		return fmt.Errorf("Limited.Strategy: %w", err)
	}
	return nil
}

var once Strategy = Limited{Attempts: 2}

// Once tries again once, at once, as the MongoDB specifications say for a client without an operation timeout.
func Once() Strategy { return once }

type untilDeadline struct{}

// UntilDeadline tries again at once for as long as the deadline allows. Use it only where something else paces the
// attempts.
func UntilDeadline() Strategy { return untilDeadline{} }

func (untilDeadline) RetryAfter(context.Context, Request, Failure) (Action, error) {
	return After(0), nil
}
