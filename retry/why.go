package retry

// Why is the reason of a verdict: the same value stands in errors, logs, metrics and traces.
type Why uint8

// Every reason that a verdict can have. WhyRetried is the only one that goes on.
const (
	WhyUndecided         Why = iota // no verdict was made
	WhyRetried                      // tried again
	WhyNotRetryable                 // nothing about the failure says that trying again helps
	WhyNotIdempotent                // it may have been applied, and twice would be wrong
	WhyStrategyDeclined             // the strategy returned no delay
	WhyAttemptsUsed                 // as often as the rule allows
	WhyDeadlineWouldPass            // the deadline is over, or would be before the next attempt
	WhyBudgetEmpty                  // too many retries are under way in this client
	WhyBreakerOpen                  // the endpoint's circuit breaker is open
	WhyNoServer                     // no suitable server to try again on
	WhyUnsupportedServer            // the server's version or kind does not support it
	WhyInTransaction                // the transaction as a whole is tried again, not its parts
	WhyDisabled                     // the client's options turn it off
	WhyCancelled                    // the caller's context was cancelled
	WhyNotBuilt                     // the command could not be built for the next server
)

var whyTexts = [...]string{
	WhyUndecided: "undecided", WhyRetried: "retried", WhyNotRetryable: "not retryable", WhyNotIdempotent: "not idempotent",
	WhyStrategyDeclined: "strategy declined", WhyAttemptsUsed: "attempts used up", WhyDeadlineWouldPass: "deadline would pass",
	WhyBudgetEmpty: "budget empty", WhyBreakerOpen: "breaker open", WhyNoServer: "no server",
	WhyUnsupportedServer: "unsupported server", WhyInTransaction: "in transaction", WhyDisabled: "disabled",
	WhyCancelled: "cancelled", WhyNotBuilt: "command not built",
}

// refuses tells whether a strategy or an attempt may give w as its reason not to go on. What is the context's or the engine's
// to say is not theirs.
func (w Why) refuses() bool {
	switch w {
	case WhyUndecided, WhyRetried, WhyCancelled, WhyDeadlineWouldPass:
		return false
	case WhyNotRetryable, WhyNotIdempotent, WhyStrategyDeclined, WhyAttemptsUsed, WhyBudgetEmpty, WhyBreakerOpen, WhyNoServer,
		WhyUnsupportedServer, WhyInTransaction, WhyDisabled, WhyNotBuilt:
		return true
	}
	return false
}

// String returns the reason in words.
func (w Why) String() string {
	if int(w) < len(whyTexts) {
		return whyTexts[w]
	}
	return "unknown"
}
