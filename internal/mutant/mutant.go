// Package mutant names deliberate defects of the client, of the test server and of the counting experiment. Negative
// controls switch them on: an experiment that does not notice them shows nothing. Only code of this module can switch them
// on, by [ServerOption] and [ClientConnect], and none is on unless a test or the control run of an experiment asks for it.
package mutant

// Server holds the defects of the test server. The zero value has none. It is test-only.
type Server struct {
	// NoDeduplication makes the server execute a retried statement again instead of answering from its session's record.
	NoDeduplication bool
	// DeduplicationLostAtFailover makes a new primary start without any session record.
	DeduplicationLostAtFailover bool
	// AcknowledgeBeforeMajority makes a write that asked for a majority be acknowledged as soon as the primary has it.
	AcknowledgeBeforeMajority bool
	// RollbackKeepsData makes the changes that a member rolls back come back: the primary makes them again.
	RollbackKeepsData bool
	// RollbackForgetsSessions makes a member forget all session records when it rolls back.
	RollbackForgetsSessions bool
}

// Client holds the defects of a client. The zero value has none. It is test-only.
type Client struct {
	// NewTxnNumberOnRetry makes each attempt of a retryable write carry a transaction number of its own.
	NewTxnNumberOnRetry bool
	// LowerWriteConcernOnRetry makes each retry of a write ask for the acknowledgement of one member only.
	LowerWriteConcernOnRetry bool
}

// Experiment holds the defects of the counting experiment. The zero value has none. It is test-only.
type Experiment struct {
	// AuditNotCompared makes the audit believe the documents without a look at the servers' journal.
	AuditNotCompared bool
	// PlannedFaultsCounted makes every planned fault count as one that happened.
	PlannedFaultsCounted bool
	// AuditReadsSecondary makes the audit read from a secondary.
	AuditReadsSecondary bool
}
