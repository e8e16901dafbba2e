package operation

import (
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// idempotency returns the idempotency of an operation. Only a runner with a defect changes it.
func (r *Runner) idempotency(op *Operation) retry.Idempotency {
	increments := op.Opcode == memd.OpIncrement || op.Opcode == memd.OpDecrement || op.Opcode == memd.OpSubdocMultiMutation
	if r.mutant.IncrementsIdempotent && increments {
		return retry.Idempotent
	}
	return op.Idempotency
}

// meaning returns what a status means as the answer to a request. Only a runner with a defect changes it.
func (r *Runner) meaning(status memd.Status, op *Operation) meaning {
	m := meaningOf(status, op.Opcode, op.CAS)
	if r.mutant.SyncWriteAmbiguousRetried && m.unsettled {
		m.unsettled, m.reason = false, couchbasereason.KVSyncWriteInProgress
	}
	return m
}
