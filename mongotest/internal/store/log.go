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
	bytes    int64       // of what the slot keeps
}

// slotBytes is what a slot takes besides the bytes of names and documents.
const slotBytes = 448

// size returns how many bytes the slot keeps from being freed, those of a dropped collection too.
func (s *Slot) size() int64 {
	e := s.Entry
	n := slotBytes + int64(len(e.NS)+len(e.Key)+len(e.Before)+len(e.After))
	if e.Op == Drop && s.on != nil {
		n += s.on.Size
	}
	if s.replaced != nil {
		n += s.replaced.Size
	}
	for i := range s.parts {
		n += s.parts[i].size()
	}
	return n
}

// Log is one member's oplog. Indexes count from 1; those up to Base have been trimmed.
type Log struct {
	Base  int64
	slots slots
	bytes int64
}

// Bytes returns about how many bytes the log keeps from being freed.
func (l *Log) Bytes() int64 { return l.bytes }

// add appends what was applied.
func (l *Log) add(s Slot) {
	s.bytes = s.size()
	l.bytes += s.bytes
	l.slots.add(s)
}

// drop takes the newest slot out.
func (l *Log) drop() Slot {
	s := l.slots.dropLast()
	l.bytes -= s.bytes
	return s
}

// Last returns the index of the newest entry, 0 if there is none.
func (l *Log) Last() int64 { return l.Base + int64(l.slots.n) }

// At returns the entry at an index, nil if there is none.
func (l *Log) At(index int64) *Entry {
	if index <= l.Base || index > l.Last() {
		return nil
	}
	return l.slots.at(int(index - l.Base - 1)).Entry
}

// Previous returns the entry of the session and the transaction number of an entry before it, nil if there is none.
func (l *Log) Previous(index int64) *Entry {
	s := l.slots.at(int(index - l.Base - 1))
	if s.Session == nil || s.previous == nil || s.previous.Txn != s.Session.Txn {
		return nil
	}
	return s.previous.entry
}

// Part returns the log up to an index, which nobody changes.
func (l *Log) Part(last int64) Log {
	return Log{Base: l.Base, slots: l.slots.part(int(max(0, min(last, l.Last())-l.Base))), bytes: l.bytes}
}

// Tail returns the newest entry, nil before the first primary has begun with a no-op.
func (l *Log) Tail() *Entry { return l.At(l.Last()) }

// Trim forgets the oldest entries as long as the log keeps more than limit bytes, but only those before an index, and never the newest.
func (l *Log) Trim(before, limit int64) {
	for l.bytes > limit && l.Base+1 < before && l.slots.n > 1 {
		l.bytes -= l.slots.at(0).bytes
		l.slots.dropFirst()
		l.Base++
	}
}

// Since returns the index of the first entry that is not before a time, false if that may have been forgotten.
func (l *Log) Since(t Timestamp) (int64, bool) {
	at := sort.Search(l.slots.n, func(i int) bool { return l.slots.at(i).TS >= t })
	return l.Base + int64(at) + 1, at > 0 || l.Base == 0 || l.slots.at(0).TS == t
}
