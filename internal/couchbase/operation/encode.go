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
func (u *run) prepare() {
	q := u.request
	w := &u.wire
	w.Opcode, w.DataType, w.CAS, w.Extras, w.Key, w.Value = q.Opcode, q.DataType, q.CAS, q.Extras, q.Key, q.Value
	w.Deadline, w.Cancelled, w.Started = u.deadline, u.caller.Done(), u.began
	if q.Durability != 0 {
		var timeout time.Duration
		if !u.deadline.IsZero() {
			timeout = max(u.deadline.Sub(u.began)*durabilityPercent/100, durabilityFloor)
		}
		w.Frames = memd.AppendDurability(u.frames[:0], q.Durability, timeout)
	}
	if q.PreserveExpiry {
		if w.Frames == nil {
			w.Frames = u.frames[:0]
		}
		w.Frames = memd.AppendPreserveExpiry(w.Frames)
	}
}

// encode fills the parts of the request that depend on the connection. It returns false with the failure if the server cannot do what
// the request asks for.
func (u *run) encode() (retry.Failure, bool) {
	features, q, w := u.conn.Features(), u.request, &u.wire
	switch {
	case len(w.Frames) > 0 && !features.Has(memd.FeatureFlexibleRequests), q.Durability != 0 && !features.Has(memd.FeatureDurability):
		return u.unsupported("the server does not support durable writes, or other framing extras"), false
	case q.PreserveExpiry && !features.Has(memd.FeaturePreserveExpiry):
		return u.unsupported("the server cannot preserve the expiry"), false
	case q.Replica > 0 && q.Opcode == memd.OpSubdocMultiLookup && !u.snapshot.Map.BucketCan(CapabilityReplicaLookup):
		return u.unsupported("the bucket's replicas do not support sub-document look-ups"), false
	}
	w.VBucket, w.Collection = u.vbucket, nil
	if features.Has(memd.FeatureCollections) && (q.Opcode.InCollection() || q.Opcode == memd.OpObserve) {
		w.Collection = defaultPrefix
		if u.id != nil {
			w.Collection = u.id.Prefix
		}
	}
	if q.Opcode == memd.OpObserve { // the key, with the id of the collection before it, stands in the value
		w.Value = memd.AppendObserveKey(nil, u.vbucket, append(slices.Clone(w.Collection), q.Key...))
		w.Key, w.Collection = nil, nil
	}
	return retry.Failure{}, true
}

// CapabilityReplicaLookup is the capability of a bucket whose replicas serve look-ups within documents (RFC 0076).
const CapabilityReplicaLookup = "subdoc.ReplicaRead"

var defaultPrefix = memd.AppendCollectionID(nil, 0)
