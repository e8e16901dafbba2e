package store

import (
	"slices"
	"time"
)

// Save puts on disk what happened until a time.
func (v *VBucket) Save(until time.Time) {
	n := 0
	for n < len(v.unsaved) && !v.unsaved[n].at.After(until) {
		n++
	}
	v.unsaved = append(v.unsaved[:0], v.unsaved[n:]...)
}

// Persisted returns the newest sequence number that is on disk.
func (v *VBucket) Persisted() uint64 {
	if len(v.unsaved) == 0 {
		return v.High
	}
	return v.unsaved[0].seqno - 1
}

// NextSave returns when the oldest event happened that is not on disk. It reports false if all is.
func (v *VBucket) NextSave() (time.Time, bool) {
	if len(v.unsaved) == 0 {
		return time.Time{}, false
	}
	return v.unsaved[0].at, true
}

// Crash loses what is not on disk, or all if nothing ever is, and the locks. It reports whether something was lost.
func (v *VBucket) Crash(all bool) bool {
	if all {
		lost := v.High > 0
		v.Flush()
		v.High = 0
		return lost
	}
	lost := len(v.unsaved) > 0
	v.High = v.Persisted()
	for _, u := range slices.Backward(v.unsaved) {
		if u.dropped {
			continue
		}
		v.set(u.key, u.before)
		if u.prepared == nil {
			delete(v.prepares, u.key)
		} else {
			v.prepares[u.key] = u.prepared
		}
	}
	v.unsaved, v.locks, v.events = nil, nil, nil
	return lost
}
