package retry

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// stoppedByBreaker is the failure of an attempt that the breaker did not permit.
var stoppedByBreaker = Failure{Err: ErrBreakerOpen, Stage: StageBeforeSending, Reason: ReasonCircuitBreakerOpen}

// afterFailure continues an operation whose first attempt failed. It copies and allocates nothing unless another one fails.
func (e *Engine) afterFailure(ctx context.Context, c call, failure *Failure, g guard, attempt AttemptFunc) error {
	var earlier history
	for n := 1; ; n++ {
		c.complete(failure)
		var now time.Time // zero until the clock is read
		if g.breaker != nil && g.permit.ok() {
			now = time.Now()
			g.breaker.done(g.permit, g.breaker.Judge(ctx, *failure), now)
		}
		if e.observer != nil {
			e.observe(ctx, c, EventAttemptFailed, n-1, failure, decision{})
			now = time.Time{} // the observer may have been slow
		}
		if failure.Progress {
			earlier.progressed()
		}
		d := e.decide(ctx, c.op, g.breaker, &earlier, failure, now)
		if e.observer != nil {
			e.observe(ctx, c, EventDecided, n-1, failure, d)
		}
		if d.delay > 0 {
			d.stop = e.wait(ctx, d, failure.wake())
		}
		if d.stop != NotStopped {
			earlier.end(failure, d)
			return e.failed(ctx, c, earlier.err)
		}
		var next Failure
		if g.permit = g.ask(); g.permit.ok() || !d.costs { // a retry for an always-retry reason needs no permit
			next = attempt(ctx, n)
		} else {
			e.payBack(d)
			next = stoppedByBreaker
		}
		if next.Err == nil {
			if e.watched {
				e.countSuccess(g)
				e.succeeded(ctx, c, g, n, next.Endpoint)
			}
			return nil
		}
		earlier.add(failure, d)
		*failure = next
	}
}

// stopped continues an operation whose first attempt the breaker did not permit.
func (e *Engine) stopped(ctx context.Context, c call, g guard, attempt AttemptFunc) error {
	failure := stoppedByBreaker
	return e.afterFailure(ctx, c, &failure, g, attempt)
}

// complete adds to a failure the facts that the operation knows.
func (c call) complete(failure *Failure) {
	failure.Idempotency = max(failure.Idempotency, c.op.Idempotency)
	if failure.Endpoint == "" {
		failure.Endpoint = c.op.Endpoint
	}
}

// decide collects everything that the decision depends on, makes it, and pays for the retry. now may be zero.
func (e *Engine) decide(
	ctx context.Context, op *Operation, breaker *Breaker, earlier *history, failure *Failure, now time.Time,
) decision {
	s := state{retries: earlier.retries, mode: e.mode, ceiling: e.maxRetryAfter}
	var strategyErr error
	if err := ctx.Err(); err != nil {
		s.ended = stopReasonOf(err)
	} else if asksStrategy(failure) {
		strategy := op.Strategy
		if strategy == nil {
			strategy = e.strategy
		}
		r, isRule := strategy.(*rule)
		switch {
		case isRule && r.allows(s.retries):
			s.action = After(r.delayAfter(s.retries))
		case isRule:
			s.action = Decline(StopAttemptsUsed)
		default:
			s.action, strategyErr = ask(ctx, strategy, op, earlier, failure)
			s.ended, now = ended(ctx), time.Time{} // the strategy may have been slow
		}
	}
	deadline, ok := ctx.Deadline()
	if ok || e.watched {
		if now.IsZero() {
			now = time.Now()
		}
		s.deadline = deadline
		if breaker != nil {
			s.openUntil = breaker.openUntil()
		}
	}
	d := decide(&s, failure, now)
	if d.costs && e.budget != nil && !e.budget.pay(now) {
		s.budgetEmpty = true
		d = decide(&s, failure, now)
	}
	d.err = strategyErr
	return d
}

// ask asks a strategy that needs the state of the operation and the failure.
func ask(ctx context.Context, strategy Strategy, op *Operation, earlier *history, failure *Failure) (Action, error) {
	state := OperationState{Operation: *op, Retries: earlier.retries, Reasons: earlier.reasons}
	if state.Data == nil {
		state.Data = Data(ctx)
	}
	action, err := strategy.RetryAfter(ctx, state, *failure)
	if err != nil || action == (Action{}) {
		action = Decline(StopStrategyDeclined)
	}
	return action, err
}

// lateness is how long after its deadline a context may end.
const lateness = 10 * time.Millisecond

// wait waits for the decision's delay, or until wake or the end of ctx, and returns the decision's stop reason or the context's.
func (e *Engine) wait(ctx context.Context, d decision, wake <-chan struct{}) StopReason {
	delay := d.delay
	if d.stop == StopDeadlineWouldPass || d.asleep {
		delay += lateness // so that the context itself ends the wait and its cause is known
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	woken := false
	select {
	case <-wake:
		woken = d.stop == NotStopped
	case <-timer.C:
	case <-ctx.Done():
	}
	stop := ended(ctx)
	if stop == StopNone {
		if woken || !d.asleep {
			return d.stop
		}
		stop = StopDeadlineWouldPass
	}
	e.payBack(d)
	return stop
}

// payBack gives the budget the token of a retry that is not made after all.
func (e *Engine) payBack(d decision) {
	if d.costs && e.budget != nil {
		e.budget.payBack()
	}
}

// failed ends an operation that failed.
func (e *Engine) failed(ctx context.Context, c call, err *Error) error {
	err.end(ctx, c.op.Idempotency)
	if e.observer != nil {
		event := c.event(ctx, EventEnded, max(err.Total-1, 0))
		event.Record, event.Err = err.Last(), err
		e.observer.Observe(ctx, event)
	}
	return err
}

// succeeded ends an operation whose attempt n, at an endpoint, succeeded.
func (e *Engine) succeeded(ctx context.Context, c call, g guard, n int, endpoint string) {
	if g.permit.state() != BreakerClosed {
		g.breaker.done(g.permit, HealthGood, time.Now())
	}
	if e.observed {
		event := c.event(ctx, EventEnded, n)
		event.Endpoint = cmp.Or(endpoint, c.op.Endpoint)
		e.observer.Observe(ctx, event)
	}
}

// observe sends the event of attempt n's failure or, with a decision, of what follows.
func (e *Engine) observe(ctx context.Context, c call, kind EventKind, n int, failure *Failure, d decision) {
	event := c.event(ctx, kind, n)
	event.Record = d.record(failure)
	e.observer.Observe(ctx, event)
}

func (c call) event(ctx context.Context, kind EventKind, n int) Event {
	event := Event{Kind: kind, Name: c.op.Name, Data: c.op.Data, Attempt: n}
	if !c.began.IsZero() {
		event.Elapsed = time.Since(c.began)
	}
	if event.Data == nil {
		event.Data = Data(ctx)
	}
	return event
}

// ended returns why ctx has ended, or StopNone.
func ended(ctx context.Context) StopReason {
	err := ctx.Err()
	if err == nil {
		return StopNone
	}
	return stopReasonOf(err)
}

func stopReasonOf(contextError error) StopReason {
	if errors.Is(contextError, context.DeadlineExceeded) {
		return StopDeadlineWouldPass
	}
	return StopCancelled
}
