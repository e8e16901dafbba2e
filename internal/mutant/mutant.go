// Package mutant names deliberate defects of the client and of the test server. Negative controls switch them on: an
// experiment that does not notice them shows nothing. Only code of this module can switch them on, by [ServerOption] and
// [ClientConnect], and none is on unless a test or the control run of an experiment asks for it.
package mutant

// Server holds the defects of the test server. The zero value has none. It is test-only.
type Server struct {
	// NoDeduplication makes the server execute a retried statement again instead of answering from its session's record.
	NoDeduplication bool
	// DeduplicationLostAtFailover makes a new primary start without any session record.
	DeduplicationLostAtFailover bool
	// AcknowledgeBeforeMajority makes a write that asked for a majority be acknowledged as soon as the primary has it.
	AcknowledgeBeforeMajority bool
}

// Client holds the defects of a client. The zero value has none. It is test-only.
type Client struct {
	// NewTxnNumberOnRetry makes each attempt of a retryable write carry a transaction number of its own.
	NewTxnNumberOnRetry bool
}
