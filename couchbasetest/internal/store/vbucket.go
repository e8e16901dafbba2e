package store

import (
	"maps"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// State is the state of a node's copy of a vbucket.
type State byte

// The states.
const (
	Dead State = iota // the node has no copy, or one that nobody may use
	Replica
	Active
)

// Epoch is the end of a history: at Seqno the vbucket got another uuid than UUID.
type Epoch struct {
	UUID  uint64
	Seqno uint64
}

// VBucket is a node's copy of a vbucket. The zero value is a dead one without documents.
type VBucket struct {
	State State
	UUID  uint64
	High  uint64 // the newest sequence number
	Past  []Epoch

	documents map[Key]*Document
	prepares  map[Key]*Prepare
	locks     map[Key]time.Time // until when
	events    []event           // what replicas may still need, by sequence number
	unsaved   []undo            // what is not on disk yet
	lastCAS   uint64
}

// Get returns the document that a client sees, nil if there is none.
func (v *VBucket) Get(key Key, now time.Time) *Document {
	if d := v.documents[key]; d.Alive(now) {
		return d
	}
	return nil
}

// GetDeleted returns a document, or the tombstone of one that was deleted or has expired. It returns nil if there is neither.
func (v *VBucket) GetDeleted(key Key, now time.Time) *Document {
	d := v.documents[key]
	if d == nil || d.Deleted || d.Alive(now) {
		return d
	}
	t := d.Tombstone()
	t.CAS = d.CAS
	return t
}

// Tombstone returns what is left of a document when it is deleted. It has no CAS yet.
func (d *Document) Tombstone() *Document {
	t := *d
	t.Value, t.Xattrs, t.DataType, t.Expiry, t.Deleted, t.CAS = nil, systemXattrs(d.Xattrs), 0, 0, true, 0
	return &t
}

// Readable reports whether clients may read a document. They may not while a write of it waits to be committed again: the write may have been
// acknowledged, and a reader would not see it.
func (v *VBucket) Readable(key Key) bool {
	p := v.prepares[key]
	return p == nil || !p.ReCommit
}

// Locked reports whether a document is locked.
func (v *VBucket) Locked(key Key, now time.Time) bool {
	until, ok := v.locks[key]
	if ok && !now.Before(until) {
		delete(v.locks, key)
		return false
	}
	return ok
}

// Lock locks a document and gives it another CAS, which unlocks it. Replicas do not learn of locks.
func (v *VBucket) Lock(key Key, until, now time.Time) *Document {
	locked := *v.documents[key]
	locked.CAS = v.nextCAS(now)
	v.documents[key] = &locked
	if v.locks == nil {
		v.locks = make(map[Key]time.Time)
	}
	v.locks[key] = until
	return &locked
}

// Unlock ends the lock of a document.
func (v *VBucket) Unlock(key Key) { delete(v.locks, key) }

// Writable returns the document that a write replaces, nil if a client sees none, and the status of the write: StatusSuccess if it may be done.
// cas is the CAS that the write names; 0 names none.
func (v *VBucket) Writable(key Key, cas uint64, now time.Time) (*Document, memd.Status) {
	d := v.Get(key, now)
	if p := v.prepares[key]; p != nil {
		return d, p.refusal()
	}
	switch {
	case d != nil && v.Locked(key, now) && cas != d.CAS:
		return d, memd.StatusLocked
	case cas != 0 && d == nil:
		return nil, memd.StatusKeyNotFound
	case cas != 0 && d.CAS != cas:
		return d, memd.StatusKeyExists
	}
	return d, memd.StatusSuccess
}

// Next returns the CAS and the sequence number of the write that comes next.
func (v *VBucket) Next(now time.Time) (cas, seqno uint64) { return v.nextCAS(now), v.High + 1 }

// nextCAS is the time in nanoseconds without its lowest bits, or one more than the CAS before.
func (v *VBucket) nextCAS(now time.Time) uint64 {
	v.lastCAS = max(v.lastCAS+1, uint64(now.UnixNano())&^0xffff)
	return v.lastCAS
}

// Put stores d as the newest version of a document. The caller has set its CAS and what the client gave.
func (v *VBucket) Put(key Key, d *Document, now time.Time) {
	v.High++
	d.Seqno, d.Changed = v.High, now
	if old := v.documents[key]; old != nil {
		d.Revision = old.Revision
	}
	d.Revision++
	v.Unlock(key)
	v.apply(event{seqno: v.High, at: now, kind: mutation, key: key, document: d})
}

// Each calls f for each document that is there for a client, until f returns false.
func (v *VBucket) Each(now time.Time, f func(Key, *Document) bool) {
	for key, d := range v.documents {
		if d.Alive(now) && !f(key, d) {
			return
		}
	}
}

// Drop forgets the documents of a collection, and all that stands for them.
func (v *VBucket) Drop(collection uint32) {
	in := func(key Key) bool { return key.Collection == collection }
	maps.DeleteFunc(v.documents, func(key Key, _ *Document) bool { return in(key) })
	maps.DeleteFunc(v.prepares, func(key Key, _ *Prepare) bool { return in(key) })
	maps.DeleteFunc(v.locks, func(key Key, _ time.Time) bool { return in(key) })
	for i := range v.events {
		if in(v.events[i].key) {
			v.events[i].kind = nothing
		}
	}
	for i := range v.unsaved {
		v.unsaved[i].dropped = v.unsaved[i].dropped || in(v.unsaved[i].key)
	}
}

// Flush forgets all documents.
func (v *VBucket) Flush() {
	v.documents, v.prepares, v.locks, v.events, v.unsaved = nil, nil, nil, nil, nil
}
