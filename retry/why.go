package retry

// Why is the reason of a verdict: the same value stands in errors, logs, metrics and traces.
type Why uint8

// Every reason that a verdict can have. Retried is the only one that goes on.
const (
	Undecided         Why = iota // no verdict was made
	Retried                      // tried again
	NotRetryable                 // nothing about the failure says that trying again helps
	NotIdempotentOp              // it may have been applied, and twice would be wrong
	StrategyDeclined             // the strategy returned no delay
	AttemptsUsed                 // as often as the rule allows
	DeadlineWouldPass            // the deadline is over, or would be before the next attempt
	BudgetEmpty                  // too many retries are under way in this client
	BreakerOpen                  // the endpoint's circuit breaker is open
	NoServer                     // no suitable server to try again on
	UnsupportedServer            // the server's version or kind does not support it
	InTransaction                // the transaction as a whole is tried again, not its parts
	Disabled                     // the client's options turn it off
	Cancelled                    // the caller's context was cancelled
	NotBuilt                     // the command could not be built for the next server
)

var whyTexts = [...]string{
	Undecided: "undecided", Retried: "retried", NotRetryable: "not retryable", NotIdempotentOp: "not idempotent",
	StrategyDeclined: "strategy declined", AttemptsUsed: "attempts used up", DeadlineWouldPass: "deadline would pass",
	BudgetEmpty: "budget empty", BreakerOpen: "breaker open", NoServer: "no server",
	UnsupportedServer: "unsupported server", InTransaction: "in transaction", Disabled: "disabled",
	Cancelled: "cancelled", NotBuilt: "command not built",
}

// refuses tells whether a strategy or an attempt may give w as its reason not to go on. What is the context's or the engine's
// to say is not theirs.
func (w Why) refuses() bool {
	switch w {
	case Undecided, Retried, Cancelled, DeadlineWouldPass:
		return false
	case NotRetryable, NotIdempotentOp, StrategyDeclined, AttemptsUsed, BudgetEmpty, BreakerOpen, NoServer,
		UnsupportedServer, InTransaction, Disabled, NotBuilt:
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
