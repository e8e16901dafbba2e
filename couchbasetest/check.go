package couchbasetest

import (
	"fmt"
	"slices"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

const (
	maxValue             = 20 << 20 // bytes
	maxKey               = 250      // bytes, in the default collection
	maxKeyInCollection   = 246
	firstUsersCollection = 8
)

// check returns the reply that refuses a request before it is executed, nil if nothing is wrong with it.
func (x *exec) check() *Reply {
	c := x.command
	switch {
	case !c.open && x.conn.user == "":
		return refusal(memd.StatusAccess)
	case !c.open && x.conn.staleLocked():
		return refusal(memd.StatusAuthStale)
	case x.frames.refused != 0:
		return refusal(x.frames.refused)
	case !slices.Contains(c.extras, len(x.p.Extras)):
		return explained(memd.StatusInvalidArguments, fmt.Sprintf("%v has %v bytes of extras", x.p.Opcode, c.extras))
	case c.key != (len(x.p.Key) > 0) && !c.keyOptional:
		return explained(memd.StatusInvalidArguments, fmt.Sprintf("%v with a key of %d bytes", x.p.Opcode, len(x.p.Key)))
	case !c.value && len(x.p.Value) > 0:
		return explained(memd.StatusInvalidArguments, fmt.Sprintf("%v has no value", x.p.Opcode))
	case x.frames.preserve && !c.preserves:
		return explained(memd.StatusNotSupported, fmt.Sprintf("%v has no expiry to preserve", x.p.Opcode))
	case !c.write && x.frames.durable:
		return explained(memd.StatusInvalidArguments, fmt.Sprintf("%v has no durability", x.p.Opcode))
	}
	if x.bucket = x.conn.bucket; c.needsBucket() {
		if x.bucket == nil || x.bucket.dropped {
			return refusal(memd.StatusNoBucket)
		}
	}
	if c.document {
		return x.checkDocument()
	}
	return nil
}

// checkDocument finds the document's vbucket on the node, and checks its key and the value.
func (x *exec) checkDocument() *Reply {
	id, name := uint32(0), x.p.Key
	if x.conn.features.Has(memd.FeatureCollections) {
		var err error
		if id, name, err = memd.CutCollectionID(x.p.Key); err != nil {
			return explained(memd.StatusInvalidArguments, "the id of the collection is malformed")
		}
	}
	if longest := map[bool]int{true: maxKey, false: maxKeyInCollection}[id == 0]; len(name) == 0 || len(name) > longest {
		return explained(memd.StatusInvalidArguments, fmt.Sprintf("the key has %d bytes", len(name)))
	}
	if reply := x.findVBucket(x.p.VBucket); reply != nil {
		return reply
	}
	if !x.manifest().has(id) {
		return x.unknownCollection(memd.StatusUnknownCollection)
	}
	x.key = store.Key{Collection: id, Name: string(name)}
	return x.checkValue()
}

// findVBucket finds the node's copy of a vbucket, in a state that the command wants.
func (x *exec) findVBucket(vb uint16) *Reply {
	copies := x.node.copies[x.bucket]
	if copies == nil {
		return refusal(memd.StatusConfigOnly)
	}
	if int(vb) >= len(copies) {
		return x.notMyVBucket()
	}
	x.copy = &copies[vb]
	x.cluster.replicateLocked(x.bucket, vb, x.now)
	wanted := x.copy.State == store.Active
	if x.command.onReplicas {
		wanted = x.copy.State == store.Replica || x.command.onActive && wanted
	}
	if x.wantsReplica() {
		wanted = x.copy.State == store.Replica
	}
	if !wanted {
		return x.notMyVBucket()
	}
	return nil
}

func (x *exec) checkValue() *Reply {
	x.value = x.p.Value
	if x.p.DataType&memd.DataSnappy != 0 {
		inflated, err := memd.Inflate(x.p.Value)
		if err != nil || !x.conn.features.Has(memd.FeatureSnappy) {
			return explained(memd.StatusInvalidArguments, "the value is not compressed as it should be")
		}
		x.value, x.compressed = inflated, true
	}
	switch {
	case x.p.DataType&memd.DataXattr != 0:
		return explained(memd.StatusNotSupported, "documents with extended attributes in their value")
	case len(x.value) > maxValue:
		return refusal(memd.StatusTooBig)
	case x.frames.durable:
		return x.checkDurability()
	}
	return nil
}

// unknownCollection is the answer to a request in a collection or scope that is not there.
func (x *exec) unknownCollection(status memd.Status) *Reply {
	return &Reply{Status: status, Value: fmt.Appendf(nil, `{"manifest_uid":"%x"}`, x.manifest().uid), JSON: true}
}

// wantsReplica reports whether the request is a look-up in what a replica has.
func (x *exec) wantsReplica() bool {
	return x.p.Opcode == memd.OpSubdocMultiLookup && len(x.p.Extras) == 1 && memd.DocFlags(x.p.Extras[0])&memd.DocReplicaRead != 0
}
