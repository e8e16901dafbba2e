package mongotest

import (
	"cmp"
	"iter"
	"slices"
)

// changes returns what was done to the data after an index of its log, the newest first.
func (d *data) changes(after int64) iter.Seq[*slot] {
	return func(yield func(*slot) bool) {
		for i := len(d.log.slots) - 1; i >= 0 && d.log.base+int64(i) >= after; i-- {
			if !d.log.slots[i].changes(yield) {
				return
			}
		}
	}
}

// changes yields the slot, or a group's parts, the newest first.
func (s *slot) changes(yield func(*slot) bool) bool {
	if s.kind != group {
		return yield(s)
	}
	for i := len(s.parts) - 1; i >= 0; i-- {
		if !yield(&s.parts[i]) {
			return false
		}
	}
	return true
}

// snapshot returns the collection that a namespace had at an index of the log, nil if it had none. Where nothing has
// happened to it since, that is the one that it has now.
func (d *data) snapshot(ns string, at int64) *collection {
	if at >= d.log.last() {
		return d.collections[ns]
	}
	c := d.collections[ns]
	for s := range d.changes(at) {
		switch {
		case s.kind == create && s.ns == ns:
			c = nil
		case s.kind == drop && s.ns == ns, s.kind == rename && s.ns == ns:
			c = s.on
		case s.kind == rename && s.change.to == ns:
			c = s.replaced
		}
	}
	return d.rewind(c, at)
}

// rewind returns a collection as it was at an index of the log: itself, if it has not changed since.
func (d *data) rewind(c *collection, at int64) *collection {
	if c == nil {
		return nil
	}
	def, changed := c.def, false
	undone, removed := make(map[string][]byte), make(map[string]*record)
	for s := range d.changes(at) {
		switch {
		case s.on != c:
			continue
		case s.kind == alter || s.kind == rename:
			def = s.change.before
		case s.kind == put || s.kind == remove:
			undone[s.key] = s.before
			if s.removed != nil {
				removed[s.key] = s.removed // the oldest of a key, which is in another place if it was inserted again
			}
		}
		changed = true
	}
	if !changed {
		return c
	}
	past := newCollection(def)
	past.adopt(c.rewound(undone, removed), c.last)
	return past
}

// rewound returns the collection's records, in order, with the documents that they had before.
func (c *collection) rewound(before map[string][]byte, removed map[string]*record) []record {
	var list []record
	add := func(r *record) bool {
		doc, changed := before[r.key]
		if !changed {
			doc = r.doc
		}
		if doc != nil {
			list = append(list, record{r.id, r.key, doc})
		}
		return true
	}
	for _, r := range removed {
		add(r)
	}
	c.scan(func(r *record) bool { return removed[r.key] != nil || add(r) })
	slices.SortFunc(list, func(a, b record) int { return cmp.Compare(a.id, b.id) })
	return list
}

// adopt makes records, in order, the documents of an empty collection without unique indexes.
func (c *collection) adopt(list []record, last int64) {
	c.last, c.live = last, len(list)
	c.order = make([]*record, len(list))
	for i := range list {
		r := &list[i]
		c.order[i], c.byID[r.key] = r, r
		c.size += int64(len(r.doc))
	}
}

// clone returns a collection with the same documents that can be changed by itself.
func (c *collection) clone() *collection {
	list := make([]record, 0, c.live)
	c.scan(func(r *record) bool {
		list = append(list, *r)
		return true
	})
	copied := newCollection(c.def)
	copied.adopt(list, c.last)
	copied.define(c.def)
	return copied
}
