package retry

import "time"

// Failure says how one attempt failed. One whose Err is nil is a success; of that only the Endpoint counts, for the [Observer].
type Failure struct {
	Err      error
	Endpoint string // the server's address; empty if the attempt had none

	// BaseBackoff is the base that the server gave for a growing delay (MongoDB's baseBackoffMS). Zero: it gave none.
	BaseBackoff time.Duration
	// RetryAfter is how long the server asked not to be called (HTTP's Retry-After). No delay is shorter. A longer one than
	// [Options.MaxRetryAfter] ends the operation.
	RetryAfter time.Duration

	// Wake, if set, ends the delay early: when it is closed or delivers a value, the next attempt is made at once, because what the
	// delay waits for is there (for example a connection, or a newer map of the cluster). It does not shorten a RetryAfter. With
	// [DeadlineCapDelay] it may also wake an operation whose delay would pass the deadline.
	Wake <-chan struct{}

	Reason Reason
	Stage  Stage
	// Idempotency is that of this attempt, where it is better than the operation's: see [Operation].
	Idempotency Idempotency
	// Unsettled: the server answered, but its answer does not say whether the operation is applied (for example a MongoDB
	// writeConcernError).
	Unsettled bool
	// Progress: the attempt achieved something before it failed, for example a stream delivered messages. The retries and the
	// delays count from zero again, as if this were the operation's first failure. The deadline, the budget and the history
	// do not: each retry still costs a token.
	Progress bool
	// NoAttempt: the operation came to no attempt, for example because no server could be selected. If it ends with its first
	// failure and that has NoAttempt, its [Error] has no attempts.
	NoAttempt bool
	// Stop, if set, forbids another attempt whatever the strategy says, and says why. An attempt may not give [NotStopped],
	// [StopCancelled] or [StopDeadlineWouldPass]: they become [StopNotRetryable].
	Stop StopReason
}

// Safe reports whether another attempt cannot apply the operation twice: nothing was sent, or a second time does no harm, or
// the server's answer means that nothing was applied.
func (f *Failure) Safe() bool {
	switch {
	case f.Stage == StageBeforeSending, f.Idempotency == Idempotent, f.Idempotency == ReadOnly:
		return true
	case f.Stage == StageAnswered:
		return f.Reason.AllowsNonIdempotentRetry() && !f.Unsettled
	default:
		return false
	}
}

// wake returns the channel that may end the delay after the failure, or nil.
func (f *Failure) wake() <-chan struct{} {
	if f.RetryAfter > 0 {
		return nil
	}
	return f.Wake
}

// refusal returns why the attempt itself forbids another one.
func (f *Failure) refusal() StopReason {
	if f.Stop.refuses() {
		return f.Stop
	}
	return StopNotRetryable
}

// mayHaveApplied reports whether the attempt may have changed something on a server.
func (f *Failure) mayHaveApplied() bool {
	switch f.Stage {
	case StageBeforeSending:
		return false
	case StageAnswered:
		return f.Unsettled
	case StageInFlight:
		return true
	}
	return true
}
