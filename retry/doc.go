// Package retry decides whether, when and why a failed attempt is tried again.
//
// An attempt fails at a [Stage], for a [Reason], while doing something whose [Effect] is known. From those three facts
// the [Engine] decides, in this order: what the failure itself forbids; what the [Strategy] says; that nothing may be
// applied twice; the deadline; the [Breaker]; the budget ([BudgetOptions]). Then it waits and tries again. In the end it
// returns nil or an [*Error] that holds every attempt, the [Why] of the last verdict, and whether the outcome is known.
// The decision is one pure function; its table is in docs/ENGINE.md.
//
// A successful call costs a few nanoseconds and no allocation: the clock is read, a lock or a timer is taken and memory
// is used only after a failure. The package has no goroutines and does no I/O; it waits in the caller's goroutine.
//
// The rules are those of Couchbase's RFC 0049 and of the MongoDB driver specifications for retryable reads and writes.
package retry
