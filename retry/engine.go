package retry

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Options configure an [Engine]. They are copied when the engine is made.
type Options struct {
	// Strategy is used for operations without one of their own. It must be set.
	Strategy Strategy
	// DeadlineMode says what happens when a delay would pass the context's deadline. Default: [DeadlineGiveUp].
	DeadlineMode DeadlineMode
	// Budget limits the retries of all operations together. Nil means no limit. See [DefaultBudgetOptions].
	Budget *BudgetOptions
	// Breaker stops attempts while most of them fail. Nil means no breaker. See [DefaultBreakerOptions].
	Breaker *BreakerOptions
	// Observer receives the events of all operations. Nil means none.
	Observer Observer
}

// Engine runs operations with retries. It is safe for concurrent use. It need not be closed.
type Engine struct {
	strategy Strategy
	mode     DeadlineMode
	watched  bool // a budget, a breaker or an observer wants to know of successes
	breaker  *Breaker
	budget   *budget
	observer Observer

	successes atomic.Uint64 // one counter for budget and breaker
}

// New returns an engine, or an error that names the option and its rule.
func New(o Options) (*Engine, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("retry: %w", err)
	}
	e := &Engine{strategy: o.Strategy, mode: o.DeadlineMode, observer: o.Observer}
	now := time.Now()
	if o.Budget != nil {
		e.budget = newBudget(*o.Budget, &e.successes, now)
	}
	if o.Breaker != nil {
		e.breaker = newBreaker(*o.Breaker, &e.successes, now)
	}
	e.watched = e.budget != nil || e.breaker != nil || e.observer != nil
	return e, nil
}

func (o *Options) validate() error {
	if o.DeadlineMode > DeadlineCapDelay {
		return fmt.Errorf("Options.DeadlineMode is %d; it must be DeadlineGiveUp or DeadlineCapDelay", o.DeadlineMode)
	}
	err := checkStrategy(o.Strategy)
	if err != nil {
		err = fmt.Errorf("Options.Strategy: %w", err)
	}
	if err == nil && o.Budget != nil {
		err = o.Budget.validate()
	}
	if err == nil && o.Breaker != nil {
		err = o.Breaker.validate()
	}
	return err
}

// Do makes attempts until one succeeds or another one is not allowed. It returns nil or an [*Error]. Only if the operation's
// strategy was made with wrong arguments, it returns another error, before any attempt. Attempts and waits run in the
// caller's goroutine. A wait ends when ctx does.
//
// [Engine.Run] is simpler where an error alone says enough about a failure.
func (e *Engine) Do(ctx context.Context, op Operation, attempt AttemptFunc) error {
	if op.Strategy != nil {
		if err := checkOperation(op.Strategy); err != nil {
			return err
		}
	}
	permit := e.permit()
	if !permit.ok() {
		return e.stopped(ctx, &op, attempt)
	}
	failure := attempt(ctx, 0)
	if failure.Err != nil {
		return e.afterFailure(ctx, &op, &failure, permit, attempt)
	}
	if e.watched {
		e.countSuccess(permit)
		if e.observer != nil || permit.state() != BreakerClosed { // false for most operations, which save the call
			e.succeeded(ctx, &op, permit, 0)
		}
	}
	return nil
}

// countSuccess counts a success for budget and breaker together. An attempt that began before the breaker's latest change of
// state is not counted: it shows nothing about the new state.
func (e *Engine) countSuccess(permit Permit) {
	if e.breaker == nil || e.breaker.isLatest(permit) {
		e.successes.Add(1)
	}
}

// permit returns the breaker's permit for an attempt. Without a breaker there always is one.
func (e *Engine) permit() Permit {
	if e.breaker == nil {
		return firstPermit
	}
	return e.breaker.permit()
}
