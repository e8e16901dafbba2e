package retry

import "time"

// DeadlineMode is what happens when a delay would pass the deadline.
type DeadlineMode uint8

const (
	// DeadlineGiveUp fails at once: waiting for a deadline that is known to pass helps nobody (MongoDB).
	DeadlineGiveUp DeadlineMode = iota
	// DeadlineCapDelay waits for what is left and then fails without sending (RFC 0049, "Capping the Retry Duration").
	DeadlineCapDelay
)

// state is all that a decision depends on besides the failure and the time.
type state struct {
	ended       Why    // why the context has ended, or WhyUndecided
	action      Action // the strategy's, where it is to be asked
	retries     int    // made so far
	mode        DeadlineMode
	budgetEmpty bool      // a retry was asked of the budget and it had none
	deadline    time.Time // zero: none
	openUntil   time.Time // until when the breaker lets nothing through; zero: it is closed
}

// verdict is what follows from a failure.
type verdict struct {
	why   Why
	costs bool          // the retry costs a token of the budget
	delay time.Duration // waited also if the deadline comes before the next attempt, which is then not made
}

// decide is the whole rule: it has no clock, asks nobody and changes nothing. The order is that of RFC 0049's
// orchestrator. The table in docs/ENGINE.md lists what it says for every failure and every strategy, and is tested.
func decide(s *state, f *Failure, now time.Time) verdict {
	always := f.Reason.AlwaysRetry()
	switch {
	case s.ended != WhyUndecided:
		return verdict{why: s.ended}
	case f.Refuse != WhyUndecided:
		return verdict{why: f.refusal()}
	case f.Reason == ReasonUnknown:
		return verdict{why: WhyNotRetryable}
	case !always && !s.action.retry:
		return verdict{why: s.action.why}
	case !f.Safe():
		return verdict{why: WhyNotIdempotent}
	}
	delay := s.action.delay
	if always {
		delay = ControlledBackoff(s.retries)
	}
	delay = max(delay, f.RetryAfter)
	if !s.deadline.IsZero() {
		if left := s.deadline.Sub(now); left <= delay {
			return tooLate(left, s.mode)
		}
	}
	switch {
	case always:
		return verdict{why: WhyRetried, delay: delay}
	case !s.openUntil.IsZero() && s.openUntil.After(now.Add(delay)):
		return verdict{why: WhyBreakerOpen}
	case s.budgetEmpty:
		return verdict{why: WhyBudgetEmpty}
	default:
		return verdict{why: WhyRetried, costs: true, delay: delay}
	}
}

// asksStrategy tells whether the failure is one that strategies decide about.
func asksStrategy(f *Failure) bool {
	return f.Refuse == WhyUndecided && f.Reason != ReasonUnknown && !f.Reason.AlwaysRetry()
}

// tooLate is the verdict when no more than left is left and the delay is not shorter.
func tooLate(left time.Duration, mode DeadlineMode) verdict {
	if mode == DeadlineGiveUp {
		left = 0
	}
	return verdict{why: WhyDeadlineWouldPass, delay: max(left, 0)}
}
