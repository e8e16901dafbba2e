// Package journal records the attempts at statements that reached a server.
package journal

import "sync"

// Journal keeps the newest entries. Its mutex also guards the fields of the entries in it. It is safe for concurrent use.
type Journal struct {
	mu      sync.Mutex
	limit   int
	seq     int64
	entries []*Entry
	slab    []Entry
	bytes   int // of the entries' statements
	without int // how many of the first entries have lost theirs
}

// New returns a journal that keeps up to a number of entries.
func New(limit int) *Journal { return &Journal{limit: limit} }

// maxBytes is how many bytes of statements the journal keeps.
const maxBytes = 64 << 20

// Allocate returns an entry to fill in before it is added.
func (j *Journal) Allocate() *Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.slab) == 0 {
		j.slab = make([]Entry, 32)
	}
	e := &j.slab[0]
	j.slab = j.slab[1:]
	return e
}

// Add appends filled entries.
func (j *Journal) Add(entries []*Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range entries {
		j.seq++
		e.Seq = j.seq
		j.bytes += len(e.Statement)
	}
	j.entries = append(j.entries, entries...)
	for j.bytes > maxBytes {
		j.forgetStatement()
	}
	if len(j.entries) > j.limit+j.limit/4+64 {
		n := len(j.entries) - j.limit
		for j.without < n {
			j.forgetStatement()
		}
		kept := make([]*Entry, j.limit, j.limit+j.limit/4+64+len(entries))
		copy(kept, j.entries[n:])
		j.entries, j.without = kept, j.without-n
	}
}

// forgetStatement takes the statement from the oldest entry that has one.
func (j *Journal) forgetStatement() {
	e := j.entries[j.without]
	j.bytes -= len(e.Statement)
	e.Statement = nil
	j.without++
}

// Mark changes entries that are already in the journal.
func (j *Journal) Mark(entries []*Entry, change func(*Entry)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range entries {
		change(e)
	}
}

// Each calls see with the journal's entries, the oldest first, which must not be kept. The number of them is told before.
func (j *Journal) Each(begin func(n int), see func(*Entry)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	from := max(0, len(j.entries)-j.limit)
	begin(len(j.entries) - from)
	for _, e := range j.entries[from:] {
		see(e)
	}
}
