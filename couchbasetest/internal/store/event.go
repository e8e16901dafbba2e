package store

import "time"

// kind is what an event does.
type kind byte

const (
	mutation kind = iota // a document has another version
	prepare              // a durable write waits for its replicas
	commit               // it has enough of them; document is what was prepared
	abort                // it was given up
	nothing              // the collection of the document was dropped
)

// event is one entry of the history of a vbucket.
type event struct {
	seqno    uint64
	at       time.Time
	kind     kind
	key      Key
	document *Document
	waiting  *Prepare
}

// undo takes back what is not on disk when a node dies.
type undo struct {
	event
	before   *Document
	prepared *Prepare
	dropped  bool
}

// apply does what an event says, and keeps it for the replicas and for the disk.
func (v *VBucket) apply(e event) {
	v.High = e.seqno
	v.events = append(v.events, e)
	v.unsaved = append(v.unsaved, undo{event: e, before: v.documents[e.key], prepared: v.prepares[e.key]})
	switch e.kind {
	case mutation, commit:
		v.set(e.key, e.document)
		v.lastCAS = max(v.lastCAS, e.document.CAS)
		delete(v.prepares, e.key)
	case prepare:
		if v.prepares == nil {
			v.prepares = make(map[Key]*Prepare)
		}
		v.prepares[e.key] = e.waiting
	case abort:
		delete(v.prepares, e.key)
	case nothing:
	}
}

func (v *VBucket) set(key Key, d *Document) {
	if d == nil {
		delete(v.documents, key)
		return
	}
	if v.documents == nil {
		v.documents = make(map[Key]*Document)
	}
	v.documents[key] = d
}

// Forget drops the history up to a sequence number that all replicas have.
func (v *VBucket) Forget(seqno uint64) {
	n := 0
	for n < len(v.events) && v.events[n].seqno <= seqno {
		n++
	}
	v.events = append(v.events[:0], v.events[n:]...)
}
