package couchbasetest

import (
	"math"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// found returns the request's document, or the reply that says why not.
func (x *exec) found() (*store.Document, *Reply) {
	if !x.copy.Readable(x.key) {
		return nil, x.refuse(memd.StatusSyncWriteReCommit)
	}
	d := x.copy.Get(x.key, x.now)
	if d == nil {
		return nil, refusal(memd.StatusKeyNotFound)
	}
	return d, nil
}

// shownCAS is the CAS that a reader sees: a locked document hides its own, which would unlock it.
func (x *exec) shownCAS(d *store.Document) uint64 {
	if x.copy.Locked(x.key, x.now) {
		return math.MaxUint64
	}
	return d.CAS
}

// whole returns the reply with a document.
func whole(d *store.Document, cas uint64) *Reply {
	return &Reply{
		CAS: cas, Extras: appendUint32(nil, d.Flags), Value: d.Value,
		JSON: d.DataType&memd.DataJSON != 0, compress: d.DataType&memd.DataSnappy != 0,
	}
}

func get(x *exec) *Reply {
	d, reply := x.found()
	if reply != nil {
		return reply
	}
	return whole(d, x.shownCAS(d))
}

// getMeta is how clients ask whether a document exists. Deleted ones exist, and say that they are deleted.
func getMeta(x *exec) *Reply {
	if !x.copy.Readable(x.key) {
		return x.refuse(memd.StatusSyncWriteReCommit)
	}
	d := x.copy.GetDeleted(x.key, x.now)
	if d == nil {
		return refusal(memd.StatusKeyNotFound)
	}
	m := memd.Meta{Deleted: d.Deleted, Flags: d.Flags, Expiry: d.Expiry, Seqno: d.Seqno, DataType: d.DataType &^ memd.DataSnappy}
	if d.Xattrs != nil {
		m.DataType |= memd.DataXattr
	}
	extras := memd.AppendMeta(nil, m)
	if len(x.p.Extras) == 0 || x.p.Extras[0] != memd.MetaVersion {
		extras = extras[:len(extras)-1] // without the data type
	}
	return &Reply{CAS: x.shownCAS(d), Extras: extras}
}

const (
	defaultLock = 15 * time.Second
	longestLock = 30 // seconds
)

// getLocked reads a document and locks it.
func getLocked(x *exec) *Reply {
	d, status := x.copy.Writable(x.key, 0, x.now)
	switch {
	case d == nil:
		return refusal(memd.StatusKeyNotFound)
	case status != memd.StatusSuccess:
		return x.refuse(status)
	}
	lock := defaultLock
	if len(x.p.Extras) == 4 {
		if seconds, _ := memd.ParseUint32(x.p.Extras); seconds > 0 && seconds <= longestLock {
			lock = time.Duration(seconds) * time.Second
		}
	}
	d = x.copy.Lock(x.key, x.now.Add(lock), x.now)
	return whole(d, d.CAS)
}

// unlock ends a lock.
func unlock(x *exec) *Reply {
	d, reply := x.found()
	switch {
	case reply != nil:
		return reply
	case x.p.CAS == 0:
		return explained(memd.StatusInvalidArguments, "UNLOCK needs the CAS of the lock")
	case !x.copy.Locked(x.key, x.now):
		return refusal(x.cluster.profile.notLocked(x.conn.features))
	case d.CAS != x.p.CAS:
		return x.refuse(memd.StatusLocked)
	}
	x.copy.Unlock(x.key)
	return &Reply{}
}

// notLocked is the status of an UNLOCK of a document that is not locked.
func (p *profile) notLocked(f memd.Features) memd.Status {
	if p.atLeast(7, 6) && f.Has(memd.FeatureXerror) {
		return memd.StatusNotLocked
	}
	return memd.StatusTemporaryFailure
}
