// Package operation runs one database operation: it provides the session and the transaction number, makes the
// attempts (server selection, checkout, one round trip, and the classification of the outcome), and returns the error
// for the application.
//
// The rules are those of the specifications for Retryable Reads, Retryable Writes, Client Backpressure and Sessions.
package operation
