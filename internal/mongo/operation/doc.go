// Package operation takes one database operation from its description to its result: session, transaction number, the
// attempt loop around server selection, checkout, one round trip and the classification of its outcome, and the error
// that the application sees.
//
// The rules are those of the specifications for Retryable Reads, Retryable Writes, Client Backpressure and Sessions.
package operation
