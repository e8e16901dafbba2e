package retry

import "time"

// DeadlineMode says what the engine does when the next delay would end after the context's deadline.
type DeadlineMode uint8

// The modes.
const (
	// DeadlineGiveUp: the operation ends at once, as MongoDB's specifications ask.
	DeadlineGiveUp DeadlineMode = iota
	// DeadlineCapDelay: the operation waits until the deadline and then ends without another attempt (RFC 0049, "Capping the
	// Retry Duration").
	DeadlineCapDelay
)

// state is everything, besides the failure and the time, that a decision depends on.
type state struct {
	ended       StopReason // why the context has ended; StopNone: it has not
	action      Action     // the strategy's answer, if it was asked
	retries     int        // so far, since the latest progress
	mode        DeadlineMode
	ceiling     time.Duration // of Failure.RetryAfter
	budgetEmpty bool          // the budget was asked for a token and had none
	deadline    time.Time     // zero: none
	openUntil   time.Time     // until when the breaker permits nothing; zero: it is closed
}

// decision says what follows a failure. It has at most four fields, because the compiler keeps no larger struct in registers.
type decision struct {
	stop StopReason
	again
	delay time.Duration // waited also where no attempt follows: until the deadline
	err   error         // the strategy's
}

// again says how another attempt follows.
type again struct {
	costs  bool // the retry costs a token of the budget
	asleep bool // the delay ends at the deadline: another attempt follows only if the failure's Wake ends the delay
}

// decide makes the whole decision. It reads no clock and changes nothing. The order of its questions is that of RFC 0049's
// orchestrator. A test compares it with the tables in docs/ENGINE.md for every kind of failure and every strategy.
func decide(s *state, f *Failure, now time.Time) decision {
	always := f.Reason.AlwaysRetry()
	switch {
	case s.ended != StopNone:
		return decision{stop: s.ended}
	case f.Stop != StopNone:
		return decision{stop: f.refusal()}
	case f.Reason == ReasonUnknown:
		return decision{stop: StopNotRetryable}
	case !always && !s.action.retry:
		return decision{stop: s.action.stop}
	case !f.Safe():
		return decision{stop: StopNotIdempotent}
	case f.RetryAfter > s.ceiling:
		return decision{stop: StopRetryAfterTooLong}
	}
	delay := s.action.delay
	if always {
		delay = ControlledBackoff(s.retries)
	}
	delay = max(delay, f.RetryAfter)
	asleep := false
	if !s.deadline.IsZero() {
		if left := s.deadline.Sub(now); left <= delay {
			if asleep = left > 0 && s.mode == DeadlineCapDelay && f.wake() != nil; !asleep {
				return tooLate(left, s.mode)
			}
			delay = left
		}
	}
	switch {
	case always:
		return decision{stop: NotStopped, delay: delay, again: again{asleep: asleep}}
	case !s.openUntil.IsZero() && s.openUntil.After(now.Add(delay)):
		return decision{stop: StopBreakerOpen}
	case s.budgetEmpty:
		return decision{stop: StopBudgetEmpty}
	default:
		return decision{stop: NotStopped, delay: delay, again: again{costs: true, asleep: asleep}}
	}
}

// asksStrategy reports whether a strategy is asked about the failure.
func asksStrategy(f *Failure) bool {
	return f.Stop == StopNone && f.Reason != ReasonUnknown && !f.Reason.AlwaysRetry()
}

// tooLate is the decision where the delay would not end before the deadline. left is the time until the deadline.
func tooLate(left time.Duration, mode DeadlineMode) decision {
	if mode == DeadlineGiveUp {
		left = 0
	}
	return decision{stop: StopDeadlineWouldPass, delay: max(left, 0)}
}
