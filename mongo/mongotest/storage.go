package mongotest

import "github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"

// record is one stored document. The document's bytes never change; an update puts new ones in their place.
type record struct {
	key string // query.AppendKey of its _id
	doc []byte // nil once it was removed
}

// collection holds documents in the order in which they were inserted, and finds them by _id.
type collection struct {
	byID  map[string]*record
	order []*record // with removed ones between
	live  int
}

func newCollection() *collection { return &collection{byID: make(map[string]*record)} }

// put stores a document, in the place of the one with the same key if there is one.
func (c *collection) put(key string, doc []byte) {
	if r := c.byID[key]; r != nil {
		r.doc = doc
		return
	}
	r := &record{key, doc}
	c.byID[key] = r
	c.order = append(c.order, r)
	c.live++
}

func (c *collection) remove(key string) {
	r := c.byID[key]
	if r == nil {
		return
	}
	delete(c.byID, key)
	r.doc = nil
	c.live--
	if len(c.order) > 64 && c.live < len(c.order)/2 {
		c.compact()
	}
}

func (c *collection) compact() {
	kept := make([]*record, 0, c.live)
	for _, r := range c.order {
		if r.doc != nil {
			kept = append(kept, r)
		}
	}
	c.order = kept
}

// scan calls visit with every document in order until it returns false.
func (c *collection) scan(visit func(r *record) bool) {
	if c == nil {
		return
	}
	for _, r := range c.order {
		if r.doc != nil && !visit(r) {
			return
		}
	}
}

// find calls visit with every matching document until it returns false.
func (c *collection) find(f *query.Filter, visit func(key string, doc []byte) bool) {
	if c == nil {
		return
	}
	if id, ok := f.ID(); ok {
		var buf [64]byte
		r := c.byID[string(query.AppendKey(buf[:0], id))]
		if r != nil && f.Match(r.doc) {
			visit(r.key, r.doc)
		}
		return
	}
	c.scan(func(r *record) bool { return !f.Match(r.doc) || visit(r.key, r.doc) })
}

func (c *collection) has(key string) bool { return c != nil && c.byID[key] != nil }
