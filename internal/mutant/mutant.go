// Package mutant names the deliberate defects that the negative controls switch on: an experiment which does not notice
// them shows nothing. They are test-only switches; nothing outside this module can reach them, and no defect is on
// unless a test or an experiment's control run asks for it.
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
