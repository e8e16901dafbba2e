package couchbasetest

import (
	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// observe says what the node has of documents, by their CAS.
func observe(x *exec) *Reply {
	reply := &Reply{}
	for value := x.p.Value; len(value) > 0; {
		vb, key, others, err := memd.CutObserveKey(value)
		if err != nil {
			return refusal(memd.StatusInvalidArguments)
		}
		value = others
		if refused := x.findVBucket(vb); refused != nil {
			return refused
		}
		id, name := uint32(0), key
		if x.conn.features.Has(memd.FeatureCollections) {
			if id, name, err = memd.CutCollectionID(key); err != nil {
				return refusal(memd.StatusInvalidArguments)
			}
		}
		if !x.manifest().has(id) {
			return x.unknownCollection(memd.StatusUnknownCollection)
		}
		reply.Value = memd.AppendObserveKey(reply.Value, vb, key)
		state, cas := x.stateOf(store.Key{Collection: id, Name: string(name)})
		reply.Value = memd.AppendObserved(reply.Value, state, cas)
	}
	return reply
}

// stateOf returns what the node has of a document, and the CAS.
func (x *exec) stateOf(key store.Key) (memd.KeyState, uint64) {
	d := x.copy.GetDeleted(key, x.now)
	switch {
	case d == nil:
		return memd.KeyNotFound, 0
	case d.Deleted && d.Seqno <= x.copy.Persisted():
		return memd.KeyDeletedPersisted, d.CAS
	case d.Deleted:
		return memd.KeyNotFound, d.CAS
	case d.Seqno <= x.copy.Persisted():
		return memd.KeyPersisted, d.CAS
	}
	return memd.KeyInMemory, d.CAS
}

// observeSeqno says how far the node is with a vbucket, by the sequence numbers of a history.
func observeSeqno(x *exec) *Reply {
	uuid, err := memd.ParseUint64(x.p.Value)
	if err != nil {
		return refusal(memd.StatusInvalidArguments)
	}
	if reply := x.findVBucket(x.p.VBucket); reply != nil {
		return reply
	}
	v := x.copy
	o := memd.ObservedSeqno{VBucket: x.p.VBucket, VBucketUUID: v.UUID, Persisted: v.Persisted(), Current: v.High}
	if uuid != v.UUID {
		end, ok := v.EpochAt(uuid)
		if !ok {
			return refusal(memd.StatusKeyNotFound)
		}
		o.FailedOver, o.OldUUID, o.OldSeqno = true, end.UUID, end.Seqno
	}
	return &Reply{Value: memd.AppendObservedSeqno(nil, o)}
}
