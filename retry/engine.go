package retry

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// DefaultMaxRetryAfter is the [Options.MaxRetryAfter] of an engine that sets none. It is as long as people let a whole
// operation wait: MongoDB's drivers, for example, wait 30 s for a server.
const DefaultMaxRetryAfter = 30 * time.Second

// Options configure an [Engine]. They are copied when the engine is made.
type Options struct {
	// Strategy is used for operations without one of their own. It must be set.
	Strategy Strategy
	// DeadlineMode says what happens when a delay would pass the context's deadline. Default: [DeadlineGiveUp].
	DeadlineMode DeadlineMode
	// MaxRetryAfter is the longest [Failure.RetryAfter] that an operation waits for. If the server asks for more, the operation
	// ends with [StopRetryAfterTooLong]: a shorter delay would disobey the server, and the whole one could hold the operation
	// for hours. Zero means [DefaultMaxRetryAfter]. It must not be negative.
	MaxRetryAfter time.Duration
	// AttemptTimeout limits the time of each attempt: the context of the attempt ends after it, with the cause
	// [ErrAttemptTimeout], also after the attempt has returned. If the attempt then fails without an answer and names no
	// reason, the reason is [ReasonAttemptTimeout]. Zero means no limit but the deadline. It must not be negative.
	AttemptTimeout time.Duration
	// Budget limits the retries of all operations together. Nil means no limit. See [NewBudget].
	Budget *Budget
	// Breaker stops attempts while most of them fail. Nil means no breaker. See [DefaultBreakerOptions].
	Breaker *BreakerOptions
	// EndpointBreaker gives each endpoint a breaker of its own. It is used by operations with [Operation.Endpoint], instead of
	// Breaker, and by attempts that ask for it with [Engine.Breaker]. Nil means none.
	EndpointBreaker *BreakerOptions
	// Observer receives the events of all operations. Nil means none. Package retryslog has one that logs.
	// A [FailureObserver] costs less.
	Observer Observer
}

// Engine runs operations with retries. It is safe for concurrent use. It need not be closed.
type Engine struct {
	strategy       Strategy
	mode           DeadlineMode
	observed       bool // the observer wants to know of successes
	watched        bool // so does it, a budget or a breaker
	special        bool // see begin
	breaker        *Breaker
	endpoints      *breakers
	budget         *Budget
	observer       Observer
	maxRetryAfter  time.Duration
	attemptTimeout time.Duration

	successes *counter // one for budget and breaker
}

// New returns an engine, or an error that names the option and its rule.
func New(o Options) (*Engine, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("retry: %w", err)
	}
	e := newEngine(o.Strategy)
	e.mode, e.observer, e.budget, e.attemptTimeout = o.DeadlineMode, o.Observer, o.Budget, o.AttemptTimeout
	if o.MaxRetryAfter != 0 {
		e.maxRetryAfter = o.MaxRetryAfter
	}
	if o.Budget != nil {
		o.Budget.join(e, e.successes)
	}
	if o.Breaker != nil {
		e.breaker = newBreaker(*o.Breaker, &e.successes.Uint64, time.Now())
	}
	if o.EndpointBreaker != nil {
		e.endpoints = newBreakers(*o.EndpointBreaker)
	}
	_, onlyFailures := e.observer.(FailureObserver)
	e.observed = e.observer != nil && !onlyFailures
	e.special = e.observed || e.endpoints != nil || e.attemptTimeout != 0
	e.watched = e.budget != nil || e.breaker != nil || e.endpoints != nil || e.observed
	return e, nil
}

// newEngine returns an engine with a strategy and without limits.
func newEngine(s Strategy) *Engine {
	return &Engine{strategy: s, maxRetryAfter: DefaultMaxRetryAfter, successes: new(counter)}
}

func (o *Options) validate() error {
	switch {
	case o.DeadlineMode > DeadlineCapDelay:
		return fmt.Errorf("Options.DeadlineMode is %d; it must be DeadlineGiveUp or DeadlineCapDelay", o.DeadlineMode)
	case o.MaxRetryAfter < 0:
		return fmt.Errorf("Options.MaxRetryAfter is %v; it must not be negative", o.MaxRetryAfter)
	case o.AttemptTimeout < 0:
		return fmt.Errorf("Options.AttemptTimeout is %v; it must not be negative", o.AttemptTimeout)
	case isNil(o.Observer):
		return fmt.Errorf("Options.Observer is a nil %T; it must be an observer, or nil itself", o.Observer)
	}
	if err := checkStrategy(o.Strategy); err != nil {
		return fmt.Errorf("Options.Strategy: %w", err)
	}
	if o.Breaker != nil {
		if err := o.Breaker.validate(); err != nil {
			return err
		}
	}
	if o.EndpointBreaker != nil {
		if err := o.EndpointBreaker.validate(); err != nil {
			return fmt.Errorf("Options.EndpointBreaker: %w", err)
		}
	}
	return nil
}

// Do makes attempts until one succeeds or another one is not allowed. It returns nil or an [*Error]. Only if ctx or attempt is
// nil, or the operation's strategy is nil inside or was made with wrong arguments, it returns another error, before any
// attempt. Attempts and waits run in the caller's goroutine. A wait ends when ctx does.
//
// [Engine.Run] is simpler where an error alone says enough about a failure.
func (e *Engine) Do(ctx context.Context, op Operation, attempt AttemptFunc) error {
	return e.do(ctx, &op, attempt) // Do is inlined: op is not copied
}

func (e *Engine) do(ctx context.Context, op *Operation, attempt AttemptFunc) error {
	if ctx == nil || attempt == nil {
		return errNilArgument(ctx == nil)
	}
	if op.Strategy != nil {
		if err := checkOperation(op.Strategy); err != nil {
			return err
		}
	}
	if e.special {
		return e.begin(ctx, op, attempt)
	}
	g := guard{breaker: e.breaker}
	g.permit = g.ask()
	if !g.permit.ok() {
		return e.stopped(ctx, call{op: op}, g, attempt)
	}
	failure := attempt(ctx, 0)
	if failure.Err != nil {
		return e.afterFailure(ctx, call{op: op}, &failure, g, attempt)
	}
	if e.watched {
		e.countSuccess(g)
		if g.permit.state() != BreakerClosed { // false for most operations, which save the call
			e.succeeded(ctx, call{op: op}, g, 0, failure.Endpoint)
		}
	}
	return nil
}

// begin is do for an engine with an observer of successes, with breakers for endpoints or with a time limit for attempts. The others do not
// pay for these.
func (e *Engine) begin(ctx context.Context, op *Operation, attempt AttemptFunc) error {
	if e.attemptTimeout != 0 {
		attempt = within(e.attemptTimeout, attempt)
	}
	c := call{op: op}
	if e.observed {
		c.began = time.Now()
	}
	g := guard{breaker: e.breaker}
	if e.endpoints != nil && op.Endpoint != "" {
		g.breaker = e.endpoints.of(op.Endpoint)
	}
	g.permit = g.ask()
	if !g.permit.ok() {
		return e.stopped(ctx, c, g, attempt)
	}
	failure := attempt(ctx, 0)
	if failure.Err != nil {
		return e.afterFailure(ctx, c, &failure, g, attempt)
	}
	e.countSuccess(g)
	e.succeeded(ctx, c, g, 0, failure.Endpoint)
	return nil
}

// call is one call of Do. (The function that makes attempts is no part of it: the compiler would move it to the heap.)
type call struct {
	op    *Operation
	began time.Time // zero: nobody asks for it
}

// guard is the breaker of an operation, and its permit for the latest attempt.
type guard struct {
	breaker *Breaker // nil: none
	permit  Permit
}

// ask asks the breaker for the permit for an attempt. Without a breaker there always is one.
func (g guard) ask() Permit {
	if g.breaker == nil {
		return firstPermit
	}
	return g.breaker.permit()
}

// countSuccess counts a success for budget and breaker: together, if the breaker is the engine's. An attempt that began before
// the breaker's latest change of state is not counted: it shows nothing about the new state.
func (e *Engine) countSuccess(g guard) {
	if g.breaker != nil && !g.breaker.isLatest(g.permit) {
		return
	}
	e.successes.Add(1)
	if g.breaker != e.breaker {
		g.breaker.successes.Add(1)
	}
}

// errNilArgument is the error of Do without a context, or without a function.
func errNilArgument(noContext bool) error {
	if noContext {
		return errors.New("retry: ctx is nil; it must be a context, for example context.Background()")
	}
	return errors.New("retry: Do: attempt is nil; it must be a function that makes one attempt")
}
