package retry

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Options configure an [Engine].
type Options struct {
	// Strategy is used for operations without one of their own. It must be set; [BestEffort] suits most.
	Strategy Strategy
	// DeadlineMode says what happens when a delay would pass the context's deadline. Default: [DeadlineGiveUp].
	DeadlineMode DeadlineMode
	// Budget limits the retries of all operations together. Nil: they are not limited. See [DefaultBudget].
	Budget *BudgetOptions
	// Breaker keeps attempts away from what keeps failing. Nil: there is none. See [DefaultBreaker].
	Breaker *BreakerOptions
	// Observer is told of failed attempts, verdicts and ends. Nil: nobody is.
	Observer Observer
}

// Engine runs operations with retries. It is safe for concurrent use and holds no resources.
type Engine struct {
	strategy Strategy
	rule     *rule // what the strategy comes to, if it comes to one
	mode     DeadlineMode
	watched  bool // by a budget, a breaker or an observer
	breaker  *Breaker
	budget   *budget
	observer Observer

	successes atomic.Uint64 // counted once for budget and breaker
}

// New returns an engine, or an error that names the option and its rule.
func New(o Options) (*Engine, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	e := &Engine{strategy: o.Strategy, mode: o.DeadlineMode, observer: o.Observer}
	if r, ok := ruleOf(o.Strategy); ok {
		e.rule = &r
	}
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
		return fmt.Errorf("retry: DeadlineMode is %d; it must be DeadlineGiveUp or DeadlineCapDelay", o.DeadlineMode)
	}
	err := validStrategy(o.Strategy)
	if err != nil {
		err = fmt.Errorf("retry: Strategy: %w", err)
	}
	if err == nil && o.Budget != nil {
		err = o.Budget.validate()
	}
	if err == nil && o.Breaker != nil {
		err = o.Breaker.validate()
	}
	return err
}

// Do makes attempts until one succeeds or no more is allowed. It returns nil or an [*Error]; only for an operation whose
// strategy is wrongly made it returns another error, before any attempt. It runs in the caller's goroutine, and its waits
// end when ctx does.
func (e *Engine) Do(ctx context.Context, op Operation, attempt Attempt) error {
	if op.Strategy != nil {
		if err := validStrategy(op.Strategy); err != nil {
			return fmt.Errorf("retry: Operation.Strategy: %w", err)
		}
	}
	permit := e.admit()
	if !permit.ok() {
		return e.stopped(ctx, &op, attempt)
	}
	failure := attempt(ctx, 0)
	if failure.Err != nil {
		return e.afterFailure(ctx, &op, &failure, permit, attempt)
	}
	if e.watched {
		e.countSuccess(permit)
		if e.observer != nil || permit.state() != BreakerClosed { // so that most calls make no other
			e.tellSuccess(ctx, &op, permit, 0)
		}
	}
	return nil
}

// countSuccess counts for budget and breaker together. What the breaker let through before its latest change of state is not
// counted: it says nothing of the state that is.
func (e *Engine) countSuccess(permit Permit) {
	if e.breaker == nil || e.breaker.isLatest(permit) {
		e.successes.Add(1)
	}
}

// admit asks the breaker, if there is one, to let an attempt through.
func (e *Engine) admit() Permit {
	if e.breaker == nil {
		return firstPermit
	}
	return e.breaker.enter()
}
