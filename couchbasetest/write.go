package couchbasetest

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// monthOfSeconds is the largest expiry that counts from now; a larger one counts from 1970.
const monthOfSeconds = 30 * 24 * 60 * 60

// expiryOf returns when a document that is written with an expiry ends, in seconds since 1970, 0 for never.
func (x *exec) expiryOf(expiry uint32) uint32 {
	now := uint32(x.now.Unix())
	if expiry != 0 && expiry <= monthOfSeconds {
		expiry += now
	}
	if longest := x.bucket.longestLife(x.key.Collection); longest > 0 {
		if end := now + uint32(longest/time.Second); expiry == 0 || expiry > end {
			return end
		}
	}
	return expiry
}

// longestLife is the longest time that documents of a collection live, 0 for ever.
func (b *bucket) longestLife(collection uint32) time.Duration {
	switch c := b.manifest.find(collection); {
	case c == nil || c.MaxExpiry == 0:
		return b.MaxExpiry
	case c.MaxExpiry < 0:
		return 0
	default:
		return c.MaxExpiry
	}
}

// keptExpiry returns the expiry of a document that is written in place of another one, which may be nil.
func (x *exec) keptExpiry(old *store.Document, expiry uint32) uint32 {
	if x.frames.preserve && old != nil {
		return old.Expiry
	}
	return x.expiryOf(expiry)
}

// withValue returns a document with the value of the request. It keeps the extended attributes of the old one, which may be nil.
func (x *exec) withValue(old *store.Document, flags, expiry uint32) *store.Document {
	d := &store.Document{Value: bytes.Clone(x.value), Flags: flags, Expiry: x.keptExpiry(old, expiry)}
	if old != nil {
		d.Xattrs = old.Xattrs
	}
	d.DataType = dataTypeOf(d.Value)
	if x.compressed {
		d.DataType |= memd.DataSnappy
	}
	return d
}

// dataTypeOf says whether a value is JSON.
func dataTypeOf(value []byte) memd.DataType {
	if json.Valid(value) {
		return memd.DataJSON
	}
	return 0
}

// put makes d the newest version of the request's document, or prepares that if the write is durable. The reply gets the CAS, and
// the mutation token if the client wants it.
func (x *exec) put(d *store.Document, reply *Reply) *Reply {
	if d.Size() > maxValue {
		return refusal(memd.StatusTooBig)
	}
	if d.CAS == 0 {
		d.CAS, _ = x.copy.Next(x.now)
	}
	reply.CAS = d.CAS
	seqno := x.apply(d)
	if x.conn.features.Has(memd.FeatureMutationTokens) {
		reply.Extras = memd.AppendMutationToken(reply.Extras, memd.MutationToken{VBucketUUID: x.copy.UUID, Seqno: seqno})
	}
	return reply
}

func (x *exec) apply(d *store.Document) (seqno uint64) {
	vb := x.p.VBucket
	if x.frames.durable {
		timeout := x.frames.timeout
		if timeout == 0 {
			timeout = defaultDurabilityTimeout
		}
		p := x.copy.Prepare(x.key, d, x.frames.level, x.now)
		x.ahead = &ahead{bucket: x.bucket, vb: vb, write: p, entry: x.entry, deadline: x.now.Add(timeout)}
		seqno = p.Seqno
	} else {
		x.copy.Put(x.key, d, x.now)
		seqno = d.Seqno
	}
	x.noteApplied(d.CAS, seqno)
	x.cluster.replicateLocked(x.bucket, vb, x.now)
	return seqno
}

// refuse returns the reply of a status that refuses a write or a read of a document.
func (x *exec) refuse(status memd.Status) *Reply {
	switch {
	case status == memd.StatusLocked && !x.conn.features.Has(memd.FeatureXerror):
		status = memd.StatusTemporaryFailure
	case status == memd.StatusSyncWriteReCommit && x.copy.State == store.Active:
		x.cluster.replicateLocked(x.bucket, x.p.VBucket, x.now)
	}
	return refusal(status)
}
