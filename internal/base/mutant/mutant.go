// Package mutant names deliberate defects of the clients, of the test servers and of the counting experiment. Negative
// controls switch them on: an experiment that does not notice them shows nothing. Only code of this module can switch them
// on, by [ServerOption] and [ClientConnect], and none is on unless a test or the control run of an experiment asks for it.
package mutant

// Server holds the defects of mongotest's servers. The zero value has none. It is test-only.
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

// Client holds the defects of a client of MongoDB. The zero value has none. It is test-only.
type Client struct {
	// NewTxnNumberOnRetry makes each attempt of a retryable write carry a transaction number of its own.
	NewTxnNumberOnRetry bool
	// LowerWriteConcernOnRetry makes each retry of a write ask for the acknowledgement of one member only.
	LowerWriteConcernOnRetry bool
}

// CouchbaseServer holds the defects of couchbasetest's nodes. The zero value has none. It is test-only.
type CouchbaseServer struct {
	// NotMyVBucketAfterApply makes a node refuse each tenth write as one for another node, after it has applied it.
	NotMyVBucketAfterApply bool
	// AcknowledgeBeforeMajority makes a durable write be acknowledged as soon as the active node has it.
	AcknowledgeBeforeMajority bool
}

// CouchbaseClient holds the defects of a client of Couchbase. The zero value has none. It is test-only.
type CouchbaseClient struct {
	// IncrementsIdempotent makes increments, those of parts of documents too, count as operations that may be applied twice.
	IncrementsIdempotent bool
	// SyncWriteAmbiguousRetried makes the status "the outcome of the durable write is unknown" (a3) be retried.
	SyncWriteAmbiguousRetried bool
	// OlderMapAccepted makes a bucket take an older cluster map in place of its own.
	OlderMapAccepted bool
	// TimeoutsUnambiguous makes every timeout say that the operation was not applied.
	TimeoutsUnambiguous bool
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
