package retry

import (
	"context"
	"errors"
	"time"
)

// notLetThrough is the failure of an attempt that the breaker stopped.
var notLetThrough = Failure{Err: ErrBreakerOpen, Stage: StageDispatch, Reason: ReasonCircuitBreakerOpen}

// past is what an operation under way remembers of the attempts before its latest.
type past struct {
	history []Record
	reasons Reasons
}

func (p *past) add(f *Failure, v verdict) {
	p.history = append(p.history, Record{Failure: *f, Delay: v.delay, Why: v.why})
	p.reasons.add(f.Reason)
}

// afterFailure goes on after a first attempt that failed. Nothing is copied or allocated unless a second one fails too.
func (e *Engine) afterFailure(ctx context.Context, op *Operation, failure *Failure, permit Permit, attempt Attempt) error {
	var before past
	for n := 1; ; n++ {
		failure.Effect = max(failure.Effect, op.Effect)
		var now time.Time // read once, and only if somebody wants it
		if e.breaker != nil && permit.ok() {
			now = time.Now()
			e.breaker.done(permit, e.outcome(ctx, failure), now)
		}
		if e.observer != nil {
			e.observe(ctx, op, EventAttemptFailed, n-1, failure, verdict{})
			now = time.Time{} // that may have taken its time
		}
		v := e.decide(ctx, op, &before, failure, now)
		if e.observer != nil {
			e.observe(ctx, op, EventDecided, n-1, failure, v)
		}
		if v.delay > 0 {
			v.why = e.wait(ctx, v)
		}
		if v.why != WhyRetried {
			before.add(failure, v)
			return e.failed(ctx, op, &before)
		}
		var next Failure
		if permit = e.admit(); permit.ok() || !v.costs { // what is always retried passes the breaker
			next = attempt(ctx, n)
		} else {
			e.unused(v)
			next = notLetThrough
		}
		if next.Err == nil {
			if e.watched {
				e.countSuccess(permit)
				e.tellSuccess(ctx, op, permit, n)
			}
			return nil
		}
		before.add(failure, v)
		*failure = next
	}
}

// stopped goes on after a first attempt that the breaker stopped.
func (e *Engine) stopped(ctx context.Context, op *Operation, attempt Attempt) error {
	failure := notLetThrough
	return e.afterFailure(ctx, op, &failure, Permit{}, attempt)
}

// outcome is what a failed attempt tells of the endpoint. The caller's cancellation tells nothing.
func (e *Engine) outcome(ctx context.Context, failure *Failure) Outcome {
	if ended(ctx) == WhyCancelled {
		return OutcomeNeutral
	}
	return e.breaker.Judge(*failure)
}

// decide gathers what the decision depends on, makes it, and takes the token that a retry costs. now may be zero.
func (e *Engine) decide(ctx context.Context, op *Operation, before *past, failure *Failure, now time.Time) verdict {
	s := state{retries: len(before.history), mode: e.mode}
	if err := ctx.Err(); err != nil {
		s.ended = endOf(err)
	} else if asksStrategy(failure) {
		if e.rule != nil && op.Strategy == nil {
			if e.rule.allows(s.retries) {
				s.action = After(e.rule.wait(s.retries))
			} else {
				s.action = Decline(WhyAttemptsUsed)
			}
		} else {
			s.action = e.consult(ctx, op, before, failure)
			s.ended, now = ended(ctx), time.Time{} // that may have taken its time
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
	v := decide(&s, failure, now)
	if v.costs && e.budget != nil && !e.budget.take(now) {
		s.budgetEmpty = true
		v = decide(&s, failure, now)
	}
	return v
}

// consult asks the operation's strategy, or else the engine's.
func (e *Engine) consult(ctx context.Context, op *Operation, before *past, failure *Failure) Action {
	strategy := op.Strategy
	if strategy == nil {
		strategy = e.strategy
	}
	request := Request{Operation: *op, Retries: len(before.history), Reasons: before.reasons}
	if request.Data == nil {
		request.Data = Data(ctx)
	}
	action, err := strategy.RetryAfter(ctx, request, *failure)
	if err != nil || action == (Action{}) {
		return Decline(WhyStrategyDeclined)
	}
	return action
}

// lateness is how long after its deadline a context is waited for to end.
const lateness = 10 * time.Millisecond

// wait waits for the verdict's delay or until ctx ends, and returns what then holds.
func (e *Engine) wait(ctx context.Context, v verdict) Why {
	d := v.delay
	if v.why == WhyDeadlineWouldPass {
		d += lateness // the context itself ends the wait, so that its cause is known
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	why := ended(ctx)
	if why == WhyUndecided {
		return v.why
	}
	e.unused(v)
	return why
}

// unused gives back what a retry cost that is not made after all.
func (e *Engine) unused(v verdict) {
	if v.costs && e.budget != nil {
		e.budget.giveBack()
	}
}

// failed ends an operation with the error that tells all of it.
func (e *Engine) failed(ctx context.Context, op *Operation, all *past) error {
	err := newError(ctx, op.Effect, all.history)
	if e.observer != nil {
		event := e.event(ctx, op, EventEnded, len(all.history)-1)
		event.Record, event.Err = err.Last(), err
		e.observer.Observe(ctx, event)
	}
	return err
}

// tellSuccess tells those who want to know of each success.
func (e *Engine) tellSuccess(ctx context.Context, op *Operation, permit Permit, n int) {
	if permit.state() != BreakerClosed {
		e.breaker.done(permit, OutcomeSucceeded, time.Now())
	}
	if e.observer != nil {
		e.observer.Observe(ctx, e.event(ctx, op, EventEnded, n))
	}
}

// observe tells the observer of a failure of attempt n and, once there is one, of the verdict.
func (e *Engine) observe(ctx context.Context, op *Operation, kind EventKind, n int, failure *Failure, v verdict) {
	event := e.event(ctx, op, kind, n)
	event.Record = Record{Failure: *failure, Delay: v.delay, Why: v.why}
	e.observer.Observe(ctx, event)
}

func (e *Engine) event(ctx context.Context, op *Operation, kind EventKind, n int) Event {
	event := Event{Kind: kind, Attempt: n, Data: op.Data}
	if event.Data == nil {
		event.Data = Data(ctx)
	}
	return event
}

// ended is why ctx has ended, or WhyUndecided.
func ended(ctx context.Context) Why {
	err := ctx.Err()
	if err == nil {
		return WhyUndecided
	}
	return endOf(err)
}

func endOf(contextError error) Why {
	if errors.Is(contextError, context.DeadlineExceeded) {
		return WhyDeadlineWouldPass
	}
	return WhyCancelled
}
