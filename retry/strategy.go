package retry

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// Action is a strategy's answer. The zero Action declines with [StopStrategyDeclined].
type Action struct {
	retry bool
	stop  StopReason
	delay time.Duration
}

// After returns the action to make another attempt after delay. A delay that is not positive means at once.
func After(delay time.Duration) Action { return Action{retry: true, delay: max(delay, 0)} }

// Delay returns the delay before the next attempt, and reports whether the action is to make one.
func (a Action) Delay() (delay time.Duration, retry bool) { return a.delay, a.retry }

// Decline returns the action to make no other attempt, and why. A strategy may not give [StopNone], [NotStopped],
// [StopCancelled] or [StopDeadlineWouldPass]: they become [StopStrategyDeclined].
func Decline(stop StopReason) Action {
	if !stop.refuses() {
		stop = StopStrategyDeclined
	}
	return Action{stop: stop}
}

// Strategy decides whether there is another attempt, and after which delay (RFC 0049). The engine asks it only about
// failures that may be retried at all, and afterwards checks that nothing is applied twice, the deadline, the breaker and
// the budget.
//
// A strategy must be safe for concurrent use. It may block: the operation waits. If it returns an error, the operation ends
// with [StopStrategyDeclined]. The strategy's error is then in the operation's error and events, beside the last attempt's.
//
// The functions [RetryOnce], [UntilDeadline], [BestEffort], [Limited], [Overload] and [StrategyFunc] return strategies. They
// check their arguments; [New] and [Engine.Do] return the error of a strategy whose arguments were wrong.
type Strategy interface {
	RetryAfter(ctx context.Context, state OperationState, failure Failure) (Action, error)
}

// StrategyFunc returns the strategy that calls f.
func StrategyFunc(f func(ctx context.Context, state OperationState, failure Failure) (Action, error)) Strategy {
	if f == nil {
		return &invalid{errors.New("StrategyFunc: the function is nil")}
	}
	return strategyFunc(f)
}

type strategyFunc func(ctx context.Context, state OperationState, failure Failure) (Action, error)

// RetryAfter implements [Strategy].
func (f strategyFunc) RetryAfter(ctx context.Context, state OperationState, failure Failure) (Action, error) {
	return f(ctx, state, failure)
}

// invalid is a strategy that was made with wrong arguments. No engine accepts it.
type invalid struct{ err error }

// RetryAfter implements [Strategy].
func (i *invalid) RetryAfter(context.Context, OperationState, Failure) (Action, error) {
	return Action{}, i.err
}

var errNilStrategy = errors.New("it is nil; it must be a strategy, for example retry.RetryOnce()")

// checkStrategy returns an error if no engine can use s. The error does not name the field that holds s.
func checkStrategy(s Strategy) error {
	switch s := s.(type) {
	case nil:
		return errNilStrategy
	case *invalid:
		return s.err
	}
	if isNil(s) {
		return fmt.Errorf("it is a nil %T; it must be a strategy, for example retry.RetryOnce()", s)
	}
	return nil
}

// isNil reports whether an interface holds a nil pointer or a nil function. (A nil map or slice can be of use.)
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return (r.Kind() == reflect.Pointer || r.Kind() == reflect.Func) && r.IsNil()
}

// checkOperation checks the strategy of an operation. It is not inlined, which keeps Engine.Do fast.
func checkOperation(s Strategy) error {
	if err := checkStrategy(s); err != nil {
		return fmt.Errorf("retry: Operation.Strategy: %w", err)
	}
	return nil
}
