package retry

// StopReason says why there was, or was not, another attempt. Errors, events, logs and metrics show the same value.
type StopReason uint8

// The stop reasons. NotStopped is the only one with which the operation continues.
const (
	StopNone              StopReason = iota // no decision was made
	NotStopped                              // there was another attempt
	StopNotRetryable                        // nothing in the failure shows that another attempt would help
	StopNotIdempotent                       // another attempt could apply the operation twice
	StopStrategyDeclined                    // the strategy said no and gave no stop reason of its own
	StopAttemptsUsed                        // the strategy's limit of attempts is reached
	StopDeadlineWouldPass                   // the deadline has passed, or would pass before the next attempt
	StopBudgetEmpty                         // the budget has no token left
	StopBreakerOpen                         // the circuit breaker is open
	StopNoServer                            // there is no suitable server
	StopUnsupportedServer                   // the server's version or kind does not support a retry
	StopInTransaction                       // the transaction must be retried as a whole, not its parts
	StopDisabled                            // an option of the client forbids it
	StopCancelled                           // the caller cancelled the context
	StopNotBuilt                            // the message for the next server could not be built
	StopRetryAfterTooLong                   // the server asked not to be called for longer than Options.MaxRetryAfter
	StopNotReplayable                       // a part of the message, for example a body that was read, cannot be sent a second time
)

var stopReasonTexts = [...]string{
	StopNone: "undecided", NotStopped: "retried", StopNotRetryable: "not retryable", StopNotIdempotent: "not idempotent",
	StopStrategyDeclined: "strategy declined", StopAttemptsUsed: "attempts used up", StopDeadlineWouldPass: "deadline would pass",
	StopBudgetEmpty: "budget empty", StopBreakerOpen: "breaker open", StopNoServer: "no server",
	StopUnsupportedServer: "unsupported server", StopInTransaction: "in transaction", StopDisabled: "disabled",
	StopCancelled: "cancelled", StopNotBuilt: "command not built", StopRetryAfterTooLong: "retry-after too long",
	StopNotReplayable: "not replayable",
}

// refuses reports whether a strategy or an attempt may give w as its stop reason. Only the engine sets the others.
func (w StopReason) refuses() bool {
	switch w {
	case StopNone, NotStopped, StopCancelled, StopDeadlineWouldPass:
		return false
	case StopNotRetryable, StopNotIdempotent, StopStrategyDeclined, StopAttemptsUsed, StopBudgetEmpty, StopBreakerOpen, StopNoServer,
		StopUnsupportedServer, StopInTransaction, StopDisabled, StopNotBuilt, StopRetryAfterTooLong, StopNotReplayable:
		return true
	}
	return false
}

// String returns w in words.
func (w StopReason) String() string {
	if int(w) < len(stopReasonTexts) {
		return stopReasonTexts[w]
	}
	return "unknown"
}
