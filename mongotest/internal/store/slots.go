package store

import "slices"

// segmentSlots is how many slots a segment has.
const segmentSlots = 128

// segment has some slots of a list. Those in a shared one do not change, because a part of the list has them too; others may be added.
type segment struct {
	slots  [segmentSlots]Slot
	shared bool
}

// slots is a list of slots that grows at its end and is dropped from its begin. It consists of segments, so that a long one is never copied:
// with the set's mutex held that would take long, and Go's scheduler could not interrupt it.
type slots struct {
	segments []*segment
	skipped  int // slots of the first segment, which were dropped
	n        int
}

// at returns a slot, counted from 0. Nobody changes it.
func (l *slots) at(i int) *Slot {
	i += l.skipped
	return &l.segments[i/segmentSlots].slots[i%segmentSlots]
}

func (l *slots) add(s Slot) {
	end := l.skipped + l.n
	if end == len(l.segments)*segmentSlots {
		l.segments = append(l.segments, new(segment))
	}
	l.segments[end/segmentSlots].slots[end%segmentSlots] = s
	l.n++
}

// own returns the place of a slot for a change of it.
func (l *slots) own(i int) *Slot {
	at := &l.segments[(l.skipped+i)/segmentSlots]
	if (*at).shared {
		*at = &segment{slots: (*at).slots}
	}
	return l.at(i)
}

// dropLast takes out the last slot.
func (l *slots) dropLast() Slot {
	l.n--
	at := l.own(l.n)
	s := *at
	*at = Slot{}
	if end := l.skipped + l.n; end%segmentSlots == 0 {
		l.segments = l.segments[:end/segmentSlots]
	}
	return s
}

// dropFirst takes out the first slot.
func (l *slots) dropFirst() {
	*l.own(0) = Slot{}
	l.skipped++
	l.n--
	if l.skipped == segmentSlots {
		l.segments[0] = nil
		l.segments, l.skipped = l.segments[1:], 0
	}
}

// part returns the first n slots as they are now. They may be read without a lock.
func (l *slots) part(n int) slots {
	for _, s := range l.segments {
		s.shared = true
	}
	return slots{segments: slices.Clone(l.segments), skipped: l.skipped, n: n}
}
