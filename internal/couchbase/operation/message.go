package operation

import (
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// The server gets this part of the operation's timeout for a durable write, so that its answer comes in time.
const (
	durabilityPercent = 90
	durabilityFloor   = 1500 * time.Millisecond
)

// prepare fills those parts of the request that are the same in all attempts.
func (r *run) prepare() {
	op := r.op
	w := &r.wire
	w.Opcode, w.DataType, w.CAS, w.Extras, w.Key, w.Value = op.Opcode, op.DataType, op.CAS, op.Extras, op.Key, op.Value
	w.Deadline, w.Cancelled, w.Started = r.deadline, r.caller.Done(), r.began
	if op.Durability != 0 {
		var timeout time.Duration
		if !r.deadline.IsZero() {
			timeout = max(r.deadline.Sub(r.began)*durabilityPercent/100, durabilityFloor)
		}
		w.Frames = memd.AppendDurability(r.frames[:0], op.Durability, timeout)
	}
	if op.PreserveExpiry {
		if w.Frames == nil {
			w.Frames = r.frames[:0]
		}
		w.Frames = memd.AppendPreserveExpiry(w.Frames)
	}
}

// build fills the parts of the request that depend on the connection. It returns false with the failure if the server cannot do what
// the request asks for.
func (r *run) build() (retry.Failure, bool) {
	features, op, w := r.conn.Features(), r.op, &r.wire
	switch {
	case len(w.Frames) > 0 && !features.Has(memd.FeatureFlexibleRequests), op.Durability != 0 && !features.Has(memd.FeatureDurability):
		return r.unsupported("the server does not support durable writes, or other framing extras"), false
	case op.PreserveExpiry && !features.Has(memd.FeaturePreserveExpiry):
		return r.unsupported("the server cannot preserve the expiry"), false
	case op.Replica > 0 && op.Opcode == memd.OpSubdocMultiLookup && !r.snapshot.Map.BucketCan(CapabilityReplicaLookup):
		return r.unsupported("the bucket's replicas do not support sub-document look-ups"), false
	}
	w.VBucket, w.Collection = r.vbucket, nil
	if features.Has(memd.FeatureCollections) && (op.Opcode.InCollection() || op.Opcode == memd.OpObserve) {
		w.Collection = defaultPrefix
		if r.id != nil {
			w.Collection = r.id.Prefix
		}
	}
	if op.Opcode == memd.OpObserve { // the key, with the id of the collection before it, stands in the value
		w.Value = memd.AppendObserveKey(nil, r.vbucket, append(slices.Clone(w.Collection), op.Key...))
		w.Key, w.Collection = nil, nil
	}
	return retry.Failure{}, true
}

// CapabilityReplicaLookup is the capability of a bucket whose replicas serve look-ups within documents (RFC 0076).
const CapabilityReplicaLookup = "subdoc.ReplicaRead"

var defaultPrefix = memd.AppendCollectionID(nil, 0)
