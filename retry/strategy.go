package retry

import (
	"context"
	"errors"
	"time"
)

// Action is a strategy's answer. The zero Action declines.
type Action struct {
	retry bool
	why   Why
	delay time.Duration
}

// After is the action to try again after delay, at once if it is not positive.
func After(delay time.Duration) Action { return Action{retry: true, delay: max(delay, 0)} }

// Decline is the action not to try again, and why. WhyRetried, WhyCancelled and WhyDeadlineWouldPass are not a strategy's to say: they
// become WhyStrategyDeclined.
func Decline(why Why) Action {
	if !why.refuses() {
		why = WhyStrategyDeclined
	}
	return Action{why: why}
}

// Strategy decides whether and when an operation is tried again (RFC 0049). It is asked about what may be retried at all;
// that nothing is applied twice, the deadline, the budget and the breaker are the engine's business afterwards. It must be
// safe for concurrent use, and may block: the caller's goroutine waits. An error it returns ends the operation with the
// operation's own error.
type Strategy interface {
	RetryAfter(ctx context.Context, request Request, failure Failure) (Action, error)
}

// StrategyFunc is a function as a [Strategy].
type StrategyFunc func(ctx context.Context, request Request, failure Failure) (Action, error)

// RetryAfter calls f.
func (f StrategyFunc) RetryAfter(ctx context.Context, request Request, failure Failure) (Action, error) {
	return f(ctx, request, failure)
}

var errNilFunc = errors.New("it is a nil StrategyFunc")

func (f StrategyFunc) validate() error {
	if f == nil {
		return errNilFunc
	}
	return nil
}

// isNil tells whether a strategy is a nil pointer to one of this package's types, whose methods want values.
func isNil(s Strategy) bool {
	switch s := s.(type) {
	case nil:
		return true
	case *Limited:
		return s == nil
	case *BestEffort:
		return s == nil
	case *Overload:
		return s == nil
	case *StrategyFunc:
		return s == nil
	default:
		return false
	}
}

var errNilStrategy = errors.New("it is nil; it must be a strategy, for example retry.BestEffort{}")

// validStrategy checks a strategy before it is used, so that a wrong one is an error and not a panic later. The error says
// nothing of the field.
func validStrategy(s Strategy) error {
	if isNil(s) {
		return errNilStrategy
	}
	if s, ok := s.(interface{ validate() error }); ok {
		return s.validate()
	}
	return nil
}
