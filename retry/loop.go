package retry

import (
	"context"
	"errors"
	"time"
)

// stoppedByBreaker is the failure of an attempt that the breaker did not permit.
var stoppedByBreaker = Failure{Err: ErrBreakerOpen, Stage: StageDispatch, Reason: ReasonCircuitBreakerOpen}

// history holds the failed attempts of an operation under way, without the latest.
type history struct {
	records []Record
	reasons Reasons
}

func (h *history) add(f *Failure, d decision) {
	h.records = append(h.records, Record{Failure: *f, Delay: d.delay, Why: d.why})
	h.reasons.add(f.Reason)
}

// afterFailure continues an operation whose first attempt failed. It copies and allocates nothing unless another one fails.
func (e *Engine) afterFailure(ctx context.Context, op *Operation, failure *Failure, permit Permit, attempt AttemptFunc) error {
	var earlier history
	for n := 1; ; n++ {
		failure.Effect = max(failure.Effect, op.Effect)
		var now time.Time // zero until the clock is read
		if e.breaker != nil && permit.ok() {
			now = time.Now()
			e.breaker.done(permit, e.health(ctx, failure), now)
		}
		if e.observer != nil {
			e.observe(ctx, op, EventAttemptFailed, n-1, failure, decision{})
			now = time.Time{} // the observer may have been slow
		}
		d := e.decide(ctx, op, &earlier, failure, now)
		if e.observer != nil {
			e.observe(ctx, op, EventDecided, n-1, failure, d)
		}
		if d.delay > 0 {
			d.why = e.wait(ctx, d)
		}
		if d.why != WhyRetried {
			earlier.add(failure, d)
			return e.failed(ctx, op, &earlier)
		}
		var next Failure
		if permit = e.permit(); permit.ok() || !d.costs { // a retry for an always-retry reason needs no permit
			next = attempt(ctx, n)
		} else {
			e.payBack(d)
			next = stoppedByBreaker
		}
		if next.Err == nil {
			if e.watched {
				e.countSuccess(permit)
				e.succeeded(ctx, op, permit, n)
			}
			return nil
		}
		earlier.add(failure, d)
		*failure = next
	}
}

// stopped continues an operation whose first attempt the breaker did not permit.
func (e *Engine) stopped(ctx context.Context, op *Operation, attempt AttemptFunc) error {
	failure := stoppedByBreaker
	return e.afterFailure(ctx, op, &failure, Permit{}, attempt)
}

// health returns what a failed attempt shows about the endpoint. The caller's cancellation shows nothing.
func (e *Engine) health(ctx context.Context, failure *Failure) Health {
	if ended(ctx) == WhyCancelled {
		return HealthUnknown
	}
	return e.breaker.options.Judge(*failure)
}

// decide collects everything that the decision depends on, makes it, and pays for the retry. now may be zero.
func (e *Engine) decide(ctx context.Context, op *Operation, earlier *history, failure *Failure, now time.Time) decision {
	s := state{retries: len(earlier.records), mode: e.mode}
	if err := ctx.Err(); err != nil {
		s.ended = whyEnded(err)
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
			s.action = Decline(WhyAttemptsUsed)
		default:
			s.action = ask(ctx, strategy, op, earlier, failure)
			s.ended, now = ended(ctx), time.Time{} // the strategy may have been slow
		}
	}
	deadline, ok := ctx.Deadline()
	if ok || e.watched {
		if now.IsZero() {
			now = time.Now()
		}
		s.deadline = deadline
		if e.breaker != nil {
			s.openUntil = e.breaker.openUntil()
		}
	}
	d := decide(&s, failure, now)
	if d.costs && e.budget != nil && !e.budget.pay(now) {
		s.budgetEmpty = true
		d = decide(&s, failure, now)
	}
	return d
}

// ask asks a strategy that needs the request and the failure.
func ask(ctx context.Context, strategy Strategy, op *Operation, earlier *history, failure *Failure) Action {
	request := Request{Operation: *op, Retries: len(earlier.records), Reasons: earlier.reasons}
	if request.Data == nil {
		request.Data = Data(ctx)
	}
	action, err := strategy.RetryAfter(ctx, request, *failure)
	if err != nil || action == (Action{}) {
		return Decline(WhyStrategyDeclined)
	}
	return action
}

// lateness is how long after its deadline a context may end.
const lateness = 10 * time.Millisecond

// wait waits for the decision's delay or until ctx ends, and returns the decision's Why or the context's.
func (e *Engine) wait(ctx context.Context, d decision) Why {
	delay := d.delay
	if d.why == WhyDeadlineWouldPass {
		delay += lateness // so that the context itself ends the wait and its cause is known
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	why := ended(ctx)
	if why == WhyUndecided {
		return d.why
	}
	e.payBack(d)
	return why
}

// payBack gives the budget the token of a retry that is not made after all.
func (e *Engine) payBack(d decision) {
	if d.costs && e.budget != nil {
		e.budget.payBack()
	}
}

// failed ends an operation that failed.
func (e *Engine) failed(ctx context.Context, op *Operation, all *history) error {
	err := newError(ctx, op.Effect, all.records)
	if e.observer != nil {
		event := e.event(ctx, op, EventEnded, len(all.records)-1)
		event.Record, event.Err = err.Last(), err
		e.observer.Observe(ctx, event)
	}
	return err
}

// succeeded ends an operation whose attempt n succeeded.
func (e *Engine) succeeded(ctx context.Context, op *Operation, permit Permit, n int) {
	if permit.state() != BreakerClosed {
		e.breaker.done(permit, HealthGood, time.Now())
	}
	if e.observer != nil {
		e.observer.Observe(ctx, e.event(ctx, op, EventEnded, n))
	}
}

// observe sends the event of attempt n's failure or, with a decision, of what follows.
func (e *Engine) observe(ctx context.Context, op *Operation, kind EventKind, n int, failure *Failure, d decision) {
	event := e.event(ctx, op, kind, n)
	event.Record = Record{Failure: *failure, Delay: d.delay, Why: d.why}
	e.observer.Observe(ctx, event)
}

func (e *Engine) event(ctx context.Context, op *Operation, kind EventKind, n int) Event {
	event := Event{Kind: kind, Attempt: n, Data: op.Data}
	if event.Data == nil {
		event.Data = Data(ctx)
	}
	return event
}

// ended returns why ctx has ended, or WhyUndecided.
func ended(ctx context.Context) Why {
	err := ctx.Err()
	if err == nil {
		return WhyUndecided
	}
	return whyEnded(err)
}

func whyEnded(contextError error) Why {
	if errors.Is(contextError, context.DeadlineExceeded) {
		return WhyDeadlineWouldPass
	}
	return WhyCancelled
}
