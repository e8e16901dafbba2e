// Package defect names deliberate defects of the clients, of the router, of the test servers and of the counting experiment. Negative controls
// switch them on: an experiment that does not notice them shows nothing.
//
// The product has none of them and does not import this package. The command mutation writes an overlay of it in which each defect
// stands behind its switch (see its option -defects), and .ci/defects runs the controls with this overlay. The controls have the build
// tag defects. Without the overlay a switch does nothing, and the control fails.
package defect

import "sync/atomic"

// Name is a defect.
type Name int

// The defects: of mongotest's servers, of the client of MongoDB, of the router, of couchbasetest's nodes, of the client of Couchbase, and of the counting experiment.
const (
	// NoDeduplication makes the server execute a retried statement again instead of answering from its session's record.
	NoDeduplication Name = iota
	// DeduplicationLostAtFailover makes a new primary start without any session record.
	DeduplicationLostAtFailover
	// AcknowledgeBeforeMajority makes a write that asked for a majority be acknowledged as soon as the primary has it.
	AcknowledgeBeforeMajority
	// RollbackKeepsData makes the changes that a member rolls back come back: the primary makes them again.
	RollbackKeepsData
	// RollbackForgetsSessions makes a member forget all session records when it rolls back.
	RollbackForgetsSessions

	// NewTxnNumberOnRetry makes each attempt of a retryable write carry a transaction number of its own.
	NewTxnNumberOnRetry
	// LowerWriteConcernOnRetry makes each retry of a write ask for the acknowledgement of one member only.
	LowerWriteConcernOnRetry

	// MultiUpdateRetried makes the router send an update of several documents again, which has no transaction number.
	MultiUpdateRetried
	// StateChangeLetThrough makes the router pass the error of a member whose state has changed on to its client as it is.
	StateChangeLetThrough

	// ResponseToUnchecked makes the connections to members take any reply for that to their last message.
	ResponseToUnchecked
	// GetMoreToAnotherMember makes the router ask another member than that of the cursor for more, unless it is one of a change stream, which
	// drivers open again without end.
	GetMoreToAnotherMember
	// PinKeptPastNewPrimary makes the reads of a connection stay at their member when there is a new primary.
	PinKeptPastNewPrimary

	// NotMyVBucketAfterApply makes a node refuse each tenth write as one for another node, after it has applied it.
	NotMyVBucketAfterApply
	// DurableBeforeMajority makes a durable write be acknowledged as soon as the active node has it.
	DurableBeforeMajority

	// IncrementsIdempotent makes increments, those of parts of documents too, count as operations that may be applied twice.
	IncrementsIdempotent
	// SyncWriteAmbiguousRetried makes the status "the outcome of the durable write is unknown" (a3) be retried.
	SyncWriteAmbiguousRetried
	// OlderMapAccepted makes a bucket take an older cluster map in place of its own.
	OlderMapAccepted
	// TimeoutsUnambiguous makes every timeout say that the operation was not applied.
	TimeoutsUnambiguous

	// AuditNotCompared makes the audit believe the documents without a look at the servers' journal.
	AuditNotCompared
	// PlannedFaultsCounted makes every planned fault count as one that happened.
	PlannedFaultsCounted
	// AuditReadsSecondary makes the audit read from a secondary.
	AuditReadsSecondary
)

// switchedOn has a bit for each defect that is on.
var switchedOn atomic.Uint64

// On reports whether a defect is on in this process.
func On(d Name) bool { return switchedOn.Load()&(1<<d) != 0 }

// Switch switches defects on, and returns the function that switches them off. They are on for the whole process: controls do not run
// at the same time as anything that must not have them.
func Switch(ds ...Name) (off func()) {
	var bits uint64
	for _, d := range ds {
		bits |= 1 << d
	}
	switchedOn.Or(bits)
	return func() { switchedOn.And(^bits) }
}
