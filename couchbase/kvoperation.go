package couchbase

import (
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
	"github.com/holdfast-db/holdfast/retry"
)

// kvOperation is a kind of key-value operation.
type kvOperation struct {
	name        string // for spans, metrics and strategies
	id          string // in a TimeoutError, as in gocb
	opcode      memd.Opcode
	idempotency retry.Idempotency
	index       int // among all kinds
}

// kvOperations is the largest number of kinds.
const kvOperations = 24

var kvOperationCount int

func newKVOperation(name, id string, opcode memd.Opcode) *kvOperation {
	k := &kvOperation{name: name, id: id, opcode: opcode, idempotency: operation.IdempotencyOf(opcode), index: kvOperationCount}
	kvOperationCount++
	return k
}

// The kinds of operations.
var (
	kvGet         = newKVOperation("get", "Get", memd.OpGet)
	kvGetReplica  = newKVOperation("get_replica", "GetReplica", memd.OpGetReplica)
	kvExists      = newKVOperation("exists", "GetMeta", memd.OpGetMeta)
	kvGetAndLock  = newKVOperation("get_and_lock", "GetAndLock", memd.OpGetLocked)
	kvGetAndTouch = newKVOperation("get_and_touch", "GetAndTouch", memd.OpGetAndTouch)
	kvUnlock      = newKVOperation("unlock", "Unlock", memd.OpUnlock)
	kvTouch       = newKVOperation("touch", "Touch", memd.OpTouch)
	kvInsert      = newKVOperation("insert", "Add", memd.OpAdd)
	kvUpsert      = newKVOperation("upsert", "Set", memd.OpSet)
	kvReplace     = newKVOperation("replace", "Replace", memd.OpReplace)
	kvRemove      = newKVOperation("remove", "Delete", memd.OpDelete)
	kvAppend      = newKVOperation("append", "Append", memd.OpAppend)
	kvPrepend     = newKVOperation("prepend", "Prepend", memd.OpPrepend)
	kvIncrement   = newKVOperation("increment", "Increment", memd.OpIncrement)
	kvDecrement   = newKVOperation("decrement", "Decrement", memd.OpDecrement)
	kvLookupIn    = newKVOperation("lookup_in", "LookupIn", memd.OpSubdocMultiLookup)
	kvMutateIn    = newKVOperation("mutate_in", "MutateIn", memd.OpSubdocMultiMutation)
	kvObserve     = newKVOperation("observe", "ObserveKey", memd.OpObserve)
	kvObserveSeq  = newKVOperation("observe_seqno", "ObserveSeqNo", memd.OpObserveSeqno)
)
