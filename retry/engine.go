package retry

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Options configure an [Engine]. The zero value is complete.
type Options struct {
	// Strategy is used for requests without one of their own. Default: [Once].
	Strategy Strategy
	// DeadlineMode says what happens when a delay would pass the context's deadline. Default: [GiveUp].
	DeadlineMode DeadlineMode
}

// Engine runs operations with retries. It is safe for concurrent use and holds no resources.
type Engine struct {
	strategy Strategy
	mode     DeadlineMode
}

// New returns an engine, or an error that names the option and its rule.
func New(o Options) (*Engine, error) {
	if o.DeadlineMode > CapDelay {
		return nil, fmt.Errorf("retry: DeadlineMode is %d; it must be GiveUp or CapDelay", o.DeadlineMode)
	}
	if o.Strategy == nil {
		o.Strategy = Once()
	}
	return &Engine{strategy: o.Strategy, mode: o.DeadlineMode}, nil
}

// Attempt makes one attempt, the n-th, 0 being the first, and returns how it failed, or the zero Failure.
type Attempt func(ctx context.Context, n int) Failure

// Do makes attempts until one succeeds or no more is allowed. It returns nil or an [*Error]. It runs in the caller's
// goroutine, and its waits end when ctx does.
func (e *Engine) Do(ctx context.Context, request Request, attempt Attempt) error {
	failure := attempt(ctx, 0)
	if failure.Err == nil {
		return nil
	}
	return e.afterFailure(ctx, request, failure, attempt)
}

func (e *Engine) afterFailure(ctx context.Context, request Request, failure Failure, attempt Attempt) error {
	var first [1]Record // so that one retry that succeeds allocates nothing
	history := first[:0]
	for {
		v := e.decide(ctx, request, failure)
		history = append(history, Record{Failure: failure, Delay: v.delay, Why: v.why})
		if v.delay > 0 {
			if why := wait(ctx, v.delay); why != Retried {
				v.why = why
			}
		}
		if v.why != Retried {
			history[len(history)-1].Why = v.why
			return newError(ctx, request, history)
		}
		request.Retries++
		request.Reasons.add(failure.Reason)
		failure = attempt(ctx, request.Retries)
		if failure.Err == nil {
			return nil
		}
	}
}

// decide asks, in the order of RFC 0049's orchestrator: the context, the failure itself, the strategy, the deadline.
func (e *Engine) decide(ctx context.Context, request Request, failure Failure) verdict {
	if err := ctx.Err(); err != nil {
		return verdict{why: endOf(err)}
	}
	if failure.Refuse != Undecided {
		return verdict{why: failure.Refuse}
	}
	if failure.Reason == UnknownReason {
		return verdict{why: NotRetryable}
	}
	action := After(ControlledBackoff(request.Retries))
	if !failure.Reason.AlwaysRetry() {
		action = e.ask(ctx, request, failure)
	}
	if !action.retry {
		return verdict{why: action.why}
	}
	deadline, _ := ctx.Deadline()
	if deadline.IsZero() {
		return verdict{why: Retried, delay: action.delay}
	}
	return withinDeadline(action.delay, time.Now(), deadline, e.mode)
}

func (e *Engine) ask(ctx context.Context, request Request, failure Failure) Action {
	strategy := request.Strategy
	if strategy == nil {
		strategy = e.strategy
	}
	action, err := strategy.RetryAfter(ctx, request, failure)
	if err != nil || (!action.retry && action.why == Undecided) {
		return Decline(StrategyDeclined)
	}
	return action
}

// wait waits for d or until ctx ends, and returns Retried or why not.
func wait(ctx context.Context, d time.Duration) Why {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return Retried
	case <-ctx.Done():
		return endOf(ctx.Err())
	}
}

func endOf(contextError error) Why {
	if errors.Is(contextError, context.DeadlineExceeded) {
		return DeadlineWouldPass
	}
	return Cancelled
}
