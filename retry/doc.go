// Package retry decides whether, when and why a failed attempt is tried again.
//
// An attempt fails at a [Stage], for a [Reason], while doing something whose [Effect] is known. From those three facts
// the [Engine] asks the request's [Strategy], keeps the deadline, waits, and tries again; in the end it returns nil or
// an [*Error] that holds every attempt and the [Why] of the last verdict.
//
// A successful call costs a few nanoseconds and no allocation: the clock is read, a timer is made and memory is taken
// only after a failure. The package has no goroutines and does no I/O; it waits in the caller's goroutine.
//
// The rules are those of Couchbase's RFC 0049 and of the MongoDB driver specifications for retryable reads and writes.
package retry
