package retry

import "time"

// Failure is the record of one attempt that failed. The zero Failure, whose Err is nil, is a success.
type Failure struct {
	Err      error
	Reason   Reason
	Endpoint string // where it was sent, "" if nowhere

	// BaseBackoff is the base that the server named for a growing delay (MongoDB's baseBackoffMS), zero if it named none.
	BaseBackoff time.Duration
	// RetryAfter is how long the server asked to be left alone (HTTP's Retry-After): no delay is shorter.
	RetryAfter time.Duration

	Stage Stage
	// Effect of this attempt, where it is better than the operation's own: see [Operation].
	Effect Effect
	// Unsettled: the server answered, but in a way that leaves open whether the operation is applied and stays so.
	Unsettled bool
	// Refuse, if set, is why there must be no further attempt, whatever the strategy says. WhyRetried, WhyCancelled and
	// WhyDeadlineWouldPass are not an attempt's to say: they become WhyNotRetryable.
	Refuse Why
}

// Safe tells whether trying again cannot apply the operation twice: nothing was sent, or twice does no harm, or the
// server's answer means that nothing was applied.
func (f *Failure) Safe() bool {
	switch {
	case f.Stage == StageDispatch, f.Effect == EffectIdempotent, f.Effect == EffectReadOnly:
		return true
	case f.Stage == StageResponded:
		return f.Reason.AllowsNonIdempotentRetry() && !f.Unsettled
	default:
		return false
	}
}

// refusal is why the attempt itself forbids another one.
func (f *Failure) refusal() Why {
	if f.Refuse.refuses() {
		return f.Refuse
	}
	return WhyNotRetryable
}

// mayHaveApplied tells whether the attempt may have changed something on a server.
func (f *Failure) mayHaveApplied() bool {
	switch f.Stage {
	case StageDispatch:
		return false
	case StageResponded:
		return f.Unsettled
	case StageInFlight:
		return true
	}
	return true
}
