package store

import (
	"maps"
	"slices"
	"time"
)

// CatchUp gives a replica what the active copy did until a time. A replica whose history is another one, or for which the
// active copy no longer has the history, becomes a copy of the active one.
func (v *VBucket) CatchUp(active *VBucket, until time.Time) {
	if v.UUID != active.UUID || v.High > active.High || v.High < active.oldest()-1 {
		v.Copy(active)
		return
	}
	for _, e := range active.events {
		if e.seqno <= v.High {
			continue
		}
		if e.at.After(until) {
			return
		}
		v.apply(e)
		v.events = v.events[:0]
	}
}

// oldest returns the sequence number of the oldest event in the history.
func (v *VBucket) oldest() uint64 {
	if len(v.events) == 0 {
		return v.High + 1
	}
	return v.events[0].seqno
}

// Copy makes v, whose state stays, have what another copy has.
func (v *VBucket) Copy(from *VBucket) {
	v.UUID, v.High, v.Past, v.lastCAS = from.UUID, from.High, slices.Clone(from.Past), from.lastCAS
	v.documents, v.prepares, v.locks = maps.Clone(from.documents), maps.Clone(from.prepares), nil
	v.events, v.unsaved = nil, nil
}

// NextDue returns when the oldest event happened that a replica lacks. It reports false if it lacks none.
func (v *VBucket) NextDue(active *VBucket) (time.Time, bool) {
	for _, e := range active.events {
		if e.seqno > v.High {
			return e.at, true
		}
	}
	return time.Time{}, false
}

// Promote makes a replica the active copy after a failover: it gets a uuid of its own, and writes that the failed node had
// prepared are to be committed again.
func (v *VBucket) Promote(uuid uint64) {
	v.Renew(uuid)
	v.State, v.events = Active, nil
	v.CommitAgain()
}

// CommitAgain makes the writes that wait be committed again: a client may know already that they are.
func (v *VBucket) CommitAgain() {
	for key, p := range v.prepares {
		again := *p
		again.ReCommit = true
		v.prepares[key] = &again
	}
}

// Renew begins a history with another uuid.
func (v *VBucket) Renew(uuid uint64) {
	v.Past = append([]Epoch{{v.UUID, v.High}}, v.Past...)
	v.UUID = uuid
}

// TakeOver makes v the active copy in place of another one, which loses nothing and becomes dead.
func (v *VBucket) TakeOver(from *VBucket) {
	locks := from.locks
	events := from.events
	v.Copy(from)
	v.State, v.locks, v.events = Active, locks, events
	from.State, from.locks = Dead, nil
	from.Flush()
}

// EpochAt returns the end of the history with a uuid. It reports false if the vbucket never had it.
func (v *VBucket) EpochAt(uuid uint64) (Epoch, bool) {
	for _, e := range v.Past {
		if e.UUID == uuid {
			return e, true
		}
	}
	return Epoch{}, false
}

// Has reports whether the history of the vbucket has a change: the one with a sequence number of the history with a uuid.
func (v *VBucket) Has(uuid, seqno uint64) bool {
	if uuid == v.UUID {
		return seqno <= v.High
	}
	e, ok := v.EpochAt(uuid)
	return ok && seqno <= e.Seqno
}
