package retry

// Why says why there was, or was not, another attempt. Errors, events, logs and metrics show the same value.
type Why uint8

// The possible answers. WhyRetried is the only one with which the operation continues.
const (
	WhyUndecided         Why = iota // no decision was made
	WhyRetried                      // there was another attempt
	WhyNotRetryable                 // nothing in the failure shows that another attempt would help
	WhyNotIdempotent                // another attempt could apply the operation twice
	WhyStrategyDeclined             // the strategy said no and gave no Why of its own
	WhyAttemptsUsed                 // the strategy's limit of attempts is reached
	WhyDeadlineWouldPass            // the deadline has passed, or would pass before the next attempt
	WhyBudgetEmpty                  // the budget has no token left
	WhyBreakerOpen                  // the circuit breaker is open
	WhyNoServer                     // there is no suitable server
	WhyUnsupportedServer            // the server's version or kind does not support a retry
	WhyInTransaction                // the transaction must be retried as a whole, not its parts
	WhyDisabled                     // an option of the client forbids it
	WhyCancelled                    // the caller cancelled the context
	WhyNotBuilt                     // the message for the next server could not be built
	WhyRetryAfterTooLong            // the server asked not to be called for longer than Options.MaxRetryAfter
	WhyNotReplayable                // a part of the message, for example a body that was read, cannot be sent a second time
)

var whyTexts = [...]string{
	WhyUndecided: "undecided", WhyRetried: "retried", WhyNotRetryable: "not retryable", WhyNotIdempotent: "not idempotent",
	WhyStrategyDeclined: "strategy declined", WhyAttemptsUsed: "attempts used up", WhyDeadlineWouldPass: "deadline would pass",
	WhyBudgetEmpty: "budget empty", WhyBreakerOpen: "breaker open", WhyNoServer: "no server",
	WhyUnsupportedServer: "unsupported server", WhyInTransaction: "in transaction", WhyDisabled: "disabled",
	WhyCancelled: "cancelled", WhyNotBuilt: "command not built", WhyRetryAfterTooLong: "retry-after too long",
	WhyNotReplayable: "not replayable",
}

// refuses reports whether a strategy or an attempt may give w as its reason to refuse. Only the engine sets the others.
func (w Why) refuses() bool {
	switch w {
	case WhyUndecided, WhyRetried, WhyCancelled, WhyDeadlineWouldPass:
		return false
	case WhyNotRetryable, WhyNotIdempotent, WhyStrategyDeclined, WhyAttemptsUsed, WhyBudgetEmpty, WhyBreakerOpen, WhyNoServer,
		WhyUnsupportedServer, WhyInTransaction, WhyDisabled, WhyNotBuilt, WhyRetryAfterTooLong, WhyNotReplayable:
		return true
	}
	return false
}

// String returns w in words.
func (w Why) String() string {
	if int(w) < len(whyTexts) {
		return whyTexts[w]
	}
	return "unknown"
}
