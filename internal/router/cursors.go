package router

import "time"

// cursors has the member of each open cursor. It is only a cache: another router may have opened a cursor.
type cursors struct{ recent[int64, place] }

// place is the member of a cursor.
type place struct {
	address string
	owner   id         // who opened it, if the members cannot tell
	stream  bool       // of a change stream
	awaits  bool       // its getMores wait for documents
	old     *oldCursor // nil if its client sends no old messages
}

const (
	// cursorLife is longer than a server keeps a cursor that nobody uses, which is ten minutes (cursorTimeoutMillis).
	cursorLife = 30 * time.Minute
	// mostCursors bounds the memory. Those that are forgotten are looked for at each member.
	mostCursors = 1 << 20
)

// member returns the address of the member that has a cursor, "" if it is not known.
func (c *cursors) member(id int64) string {
	p, _ := c.get(id)
	return p.address
}

// watches reports whether a cursor is known to be that of a change stream.
func (c *cursors) watches(id int64) bool {
	p, _ := c.get(id)
	return p.stream
}

// awaits reports whether the getMores of a cursor are known to wait for documents.
func (c *cursors) awaits(id int64) bool {
	p, _ := c.get(id)
	return p.awaits
}

// used notes that n more documents of a cursor came.
func (c *cursors) used(id int64, n int32, now time.Time) {
	c.use(id, now, func(p place) place {
		if p.old != nil {
			p.old = &oldCursor{namespace: p.old.namespace, returned: p.old.returned + n}
		}
		return p
	})
}
