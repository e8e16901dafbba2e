package kv

import (
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// A slot's word has its generation in the upper half and its state in the lower one. A slot is waiting from the moment in which
// its packet is in the buffer. Whoever ends that changes the state to ending first, so there is exactly one: the reader with a
// reply, or a holder of the lock with an error. The reply or the error is there when the state is ended.
const (
	stateFree    uint32 = iota
	stateWaiting        // for its reply
	stateEnding         // its reply or error is being written
	stateEnded          // the caller takes the result
	stateLeft           // the caller has left; the reply is still to come
)

func word(generation uint16, state uint32) uint32 { return uint32(generation)<<16 | state }

// opaque returns the opaque of a slot's packet.
func opaque(index, generation uint16) uint32 { return uint32(generation)<<16 | uint32(index) }

// slot holds one request in flight.
type slot struct {
	word  atomic.Uint32
	index uint16
	wake  chan struct{} // holds one; who is woken looks at its state again

	// Set before the slot waits, and not changed while it does.
	opcode     memd.Opcode
	reply      *Reply
	cancelled  <-chan struct{}
	deadline   int64 // nanoseconds since the connection was made, or never
	start, end int64 // the place of the packet in all bytes of the connection, guarded by Conn.mu

	// Guarded by Conn.mu.
	err        *Error
	owed       bool // the caller leaves without the reply, which is still to come
	started    time.Time
	linked     bool // in a list
	prev, next *slot
}

// generation returns the generation. It changes only while the slot is free or left.
func (s *slot) generation() uint16 { return uint16(s.word.Load() >> 16) }

func (s *slot) state() uint32 { return s.word.Load() & 0xffff }

func (s *slot) setState(state uint32) { s.word.Store(word(s.generation(), state)) }

// claim ends the waiting of a slot with this generation. It reports false if the slot does not wait or has another generation.
func (s *slot) claim(generation uint16) bool {
	return s.word.CompareAndSwap(word(generation, stateWaiting), word(generation, stateEnding))
}

// rouse wakes the caller.
func (s *slot) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

const (
	chunkSize = 64
	// leftPerWaiting bounds the slots: for each request that may wait there are so many slots of callers that have left.
	leftPerWaiting = 3
	mostSlots      = 1 << 16
)

type chunk [chunkSize]slot

// slots is the table of slots. It grows as needed. find may be called without the lock, all others need Conn.mu.
type slots struct {
	chunks   []atomic.Pointer[chunk]
	used     int     // slots that exist
	free     []*slot // the one used most recently is the last
	left     list    // those whose callers have left, the longest first
	recycled bool    // a slot was used again although its reply was still to come
}

func newSlots(maxQueue int) slots {
	n := min(maxQueue*(1+leftPerWaiting), mostSlots)
	return slots{chunks: make([]atomic.Pointer[chunk], (n+chunkSize-1)/chunkSize)}
}

// find returns the slot with an index, or nil if there is none.
func (t *slots) find(index uint16) *slot {
	n := int(index) / chunkSize
	if n >= len(t.chunks) {
		return nil
	}
	c := t.chunks[n].Load()
	if c == nil {
		return nil
	}
	return &c[index%chunkSize]
}

// take returns a free slot. There is one, because not all slots can wait.
func (t *slots) take() *slot {
	if len(t.free) == 0 && !t.grow() {
		t.recycle()
	}
	s := t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	return s
}

// grow adds a chunk. It reports false if the table has its full size.
func (t *slots) grow() bool {
	n := t.used / chunkSize
	if n == len(t.chunks) {
		return false
	}
	c := new(chunk)
	for i := chunkSize - 1; i >= 0; i-- {
		c[i].index = uint16(n*chunkSize + i)
		c[i].wake = make(chan struct{}, 1)
		t.free = append(t.free, &c[i])
	}
	t.chunks[n].Store(c)
	t.used += chunkSize
	return true
}

// recycle frees the slot whose reply is owed for the longest time. A late reply to it has an older generation.
func (t *slots) recycle() {
	t.recycled = true
	t.answered(t.left.first)
}

// answered frees a slot whose caller has left.
func (t *slots) answered(s *slot) {
	t.left.remove(s)
	t.put(s)
}

// put frees a slot. Its next packet has another generation.
func (t *slots) put(s *slot) {
	s.reply, s.cancelled, s.err, s.owed, s.started = nil, nil, nil, false, time.Time{}
	s.word.Store(word(s.generation()+1, stateFree))
	t.free = append(t.free, s)
}

// leave keeps a slot whose caller has left until its reply comes.
func (t *slots) leave(s *slot) {
	s.reply, s.cancelled, s.err = nil, nil, nil
	s.setState(stateLeft)
	t.left.push(s)
}

// all calls f for each slot that exists.
func (t *slots) all(f func(*slot)) {
	for n := range t.used / chunkSize {
		c := t.chunks[n].Load()
		for i := range c {
			f(&c[i])
		}
	}
}

// list is a list of slots. A slot is in one list at most.
type list struct{ first, last *slot }

func (l *list) push(s *slot) {
	s.linked, s.prev, s.next = true, l.last, nil
	if l.last == nil {
		l.first = s
	} else {
		l.last.next = s
	}
	l.last = s
}

func (l *list) remove(s *slot) {
	if s.prev == nil {
		l.first = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		l.last = s.prev
	} else {
		s.next.prev = s.prev
	}
	s.linked, s.prev, s.next = false, nil, nil
}
