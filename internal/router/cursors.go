package router

import (
	"sync"
	"time"
)

// cursors has the member of each open cursor. It is only a cache: another router may have opened a cursor.
type cursors struct {
	mu     sync.Mutex
	places map[int64]place
	swept  time.Time
}

// place is the member of a cursor.
type place struct {
	address string
	owner   id // who opened it, if the members cannot tell
	used    time.Time
	stream  bool       // of a change stream
	awaits  bool       // its getMores wait for documents
	old     *oldCursor // nil if its client sends no old messages
}

const (
	// cursorLife is longer than a server keeps a cursor that nobody uses, which is ten minutes (cursorTimeoutMillis).
	cursorLife = 30 * time.Minute
	sweepEvery = time.Minute
	// mostCursors bounds the memory: after that the oldest are forgotten, and looked for at each member.
	mostCursors = 1 << 20
)

// member returns the address of the member that has a cursor, "" if it is not known.
func (c *cursors) member(id int64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.places[id].address
}

// watches reports whether a cursor is known to be that of a change stream.
func (c *cursors) watches(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.places[id].stream
}

// awaits reports whether the getMores of a cursor are known to wait for documents.
func (c *cursors) awaits(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.places[id].awaits
}

// opened notes that a member has a cursor.
func (c *cursors) opened(id int64, p place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.places) >= mostCursors || p.used.Sub(c.swept) > sweepEvery {
		c.sweepLocked(p.used)
	}
	c.places[id] = p
}

// used notes that n more documents of a cursor came.
func (c *cursors) used(id int64, n int32, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, known := c.places[id]
	if !known {
		return
	}
	if p.old != nil {
		p.old.returned += n
	}
	p.used = now
	c.places[id] = p
}

// sweepLocked forgets the cursors that nobody has used for a long time; all of them if there are too many.
func (c *cursors) sweepLocked(now time.Time) {
	c.swept = now
	for id, p := range c.places {
		if now.Sub(p.used) > cursorLife {
			delete(c.places, id)
		}
	}
	if len(c.places) >= mostCursors {
		clear(c.places)
	}
}

// closed forgets a cursor.
func (c *cursors) closed(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.places, id)
}
