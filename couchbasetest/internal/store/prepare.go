package store

import (
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Prepare is a durable write that waits for its replicas. It never changes.
type Prepare struct {
	Key      Key
	Document *Document
	Delete   bool
	Seqno    uint64
	Persist  memd.DurabilityLevel
	// ReCommit means that it was prepared before a failover or a restart, and may have been acknowledged then.
	ReCommit bool
}

// refusal is the answer to another write of the document.
func (p *Prepare) refusal() memd.Status {
	if p.ReCommit {
		return memd.StatusSyncWriteReCommit
	}
	return memd.StatusSyncWriteInProgress
}

// Prepare begins a durable write of d, which has a CAS.
func (v *VBucket) Prepare(key Key, d *Document, level memd.DurabilityLevel, now time.Time) *Prepare {
	v.Unlock(key)
	p := &Prepare{Key: key, Document: d, Delete: d.Deleted, Seqno: v.High + 1, Persist: level}
	v.apply(event{seqno: p.Seqno, at: now, kind: prepare, key: key, document: d, waiting: p})
	return p
}

// Prepared reports whether the write still waits.
func (v *VBucket) Prepared(p *Prepare) bool { return v.prepares[p.Key] == p }

// Prepares returns all writes that wait.
func (v *VBucket) Prepares() []*Prepare {
	list := make([]*Prepare, 0, len(v.prepares))
	for _, p := range v.prepares {
		list = append(list, p)
	}
	return list
}

// Commit ends a durable write: its document is there from now on.
func (v *VBucket) Commit(p *Prepare, now time.Time) {
	d := *p.Document
	d.Seqno, d.Changed = v.High+1, now
	if old := v.documents[p.Key]; old != nil {
		d.Revision = old.Revision
	}
	d.Revision++
	v.apply(event{seqno: d.Seqno, at: now, kind: commit, key: p.Key, document: &d})
}

// Abort gives a durable write up.
func (v *VBucket) Abort(p *Prepare, now time.Time) {
	v.apply(event{seqno: v.High + 1, at: now, kind: abort, key: p.Key})
}
