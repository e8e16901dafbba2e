package store

import "sort"

// Slot is a place in one member's log: the entry, and the data that is needed to undo it there.
type Slot struct {
	*Entry
	previous *statement  // the newest record of the entry's session before
	on       *Collection // what it was done to
	replaced *Collection // what had the namespace that a rename gave to another
	removed  *Record     // what a remove took away
	parts    []Slot      // of a group
}

// Log is one member's oplog. Indexes count from 1; those up to Base have been trimmed.
type Log struct {
	Base  int64
	slots []Slot
}

// Last returns the index of the newest entry, 0 if there is none.
func (l *Log) Last() int64 { return l.Base + int64(len(l.slots)) }

// At returns the entry at an index, nil if there is none.
func (l *Log) At(index int64) *Entry {
	if index <= l.Base || index > l.Last() {
		return nil
	}
	return l.slots[index-l.Base-1].Entry
}

// Tail returns the newest entry, nil before the first primary has begun with a no-op.
func (l *Log) Tail() *Entry { return l.At(l.Last()) }

// Trim forgets entries before an index, in large steps.
func (l *Log) Trim(before int64) {
	const step = 4096
	if n := before - l.Base - 1; n >= step && n < int64(len(l.slots)) {
		kept := make([]Slot, int64(len(l.slots))-n, cap(l.slots))
		copy(kept, l.slots[n:])
		l.slots, l.Base = kept, l.Base+n
	}
}

// Since returns the index of the first entry that is not before a time, false if that may have been forgotten.
func (l *Log) Since(t Timestamp) (int64, bool) {
	at := sort.Search(len(l.slots), func(i int) bool { return l.slots[i].TS >= t })
	return l.Base + int64(at) + 1, at > 0 || l.Base == 0 || l.slots[0].TS == t
}
