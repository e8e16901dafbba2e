package operation

import (
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// effect returns the effect of a request. Only a runner with a defect changes it.
func (r *Runner) effect(q *Request) retry.Effect {
	increments := q.Opcode == memd.OpIncrement || q.Opcode == memd.OpDecrement || q.Opcode == memd.OpSubdocMultiMutation
	if r.mutant.IncrementsIdempotent && increments {
		return retry.EffectIdempotent
	}
	return q.Effect
}

// meaning returns what a status means as the answer to a request. Only a runner with a defect changes it.
func (r *Runner) meaning(status memd.Status, q *Request) meaning {
	m := meaningOf(status, q.Opcode, q.CAS)
	if r.mutant.SyncWriteAmbiguousRetried && m.unsettled {
		m.unsettled, m.reason = false, couchbasereason.KVSyncWriteInProgress
	}
	return m
}
