package operation

import (
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// Operation describes a key-value operation. Run does not change it and does not keep it after it returns, unless a strategy or an
// observer does. The slices must not change while the operation runs.
type Operation struct {
	// Name is for logs, metrics and errors, for example "get".
	Name   string
	Opcode memd.Opcode
	// Idempotency says whether the operation may be sent twice (RFC 0049's idempotent flag). See [IdempotencyOf].
	Idempotency retry.Idempotency
	// Bucket is the bucket of the operation. It is not needed if Collection is set.
	Bucket *cluster.Bucket
	// Collection has the document. Nil: the command has no collection, or the key is that of the default one.
	Collection *cluster.Collection
	// Key is the document's key, which chooses the vbucket. OBSERVE is sent with the key in its value, as the protocol wants it.
	Key []byte
	// VBucket is the vbucket of a command without a key (OBSERVE_SEQNO).
	VBucket uint16
	// Replica chooses the node: 0 is the active one, 1 the first replica.
	Replica int

	DataType memd.DataType
	CAS      uint64
	Extras   []byte
	Value    []byte
	// Durability is the level that the write needs, 0 for none. The server gets 90 % of the operation's timeout, at least 1.5 s.
	Durability memd.DurabilityLevel
	// PreserveExpiry keeps the expiry of the document.
	PreserveExpiry bool

	// Began is when the operation began: its timeout counts from then. Zero: when Run is called.
	Began time.Time
	// Strategy decides about the retries. Nil: that of the [Runner].
	Strategy retry.Strategy
	// Data is the user's own. Strategies and observers get it.
	Data any
}

func (o *Operation) bucket() *cluster.Bucket {
	if o.Collection != nil {
		return o.Collection.Bucket()
	}
	return o.Bucket
}

// IdempotencyOf returns the idempotency of a command by RFC 0049's list of idempotent operations.
func IdempotencyOf(op memd.Opcode) retry.Idempotency {
	switch op { //nolint:exhaustive // the list names the commands that are idempotent; all others are not
	case memd.OpGet, memd.OpGetReplica, memd.OpObserve, memd.OpObserveSeqno, memd.OpNoop, memd.OpGetClusterConfig,
		memd.OpCollectionsManifest, memd.OpCollectionID, memd.OpScopeID, memd.OpSubdocMultiLookup, memd.OpSubdocGet, memd.OpSubdocExists,
		memd.OpSubdocGetCount, memd.OpGetMeta, memd.OpGetRandom, memd.OpStat:
		return retry.ReadOnly
	}
	return retry.NotIdempotent
}

// Result is the answer to an operation that succeeded.
type Result struct {
	// Packet is the server's answer. The memory of its parts belongs to the caller. A look-up in a document also succeeds with the
	// statuses StatusMultiFailure, StatusSuccessDeleted and StatusMultiFailureDeleted.
	Packet memd.Packet
	// VBucket is that of the key, for mutation tokens.
	VBucket uint16
	// CollectionID is the id that the operation was sent with.
	CollectionID uint32
	// Conn is the connection that answered.
	Conn *kv.Conn
	// Took is the time from the operation's beginning to the answer.
	Took time.Duration
}
