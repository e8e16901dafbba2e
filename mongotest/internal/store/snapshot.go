package store

import (
	"cmp"
	"iter"
	"slices"
)

// Changes returns the changes of the data after an index of its log, the newest first.
func (st *Store) Changes(after int64) iter.Seq[*Slot] {
	return func(yield func(*Slot) bool) {
		for i := st.Log.slots.n - 1; i >= 0 && st.Log.Base+int64(i) >= after; i-- {
			if !st.Log.slots.at(i).changes(yield) {
				return
			}
		}
	}
}

// changes yields the slot, or a group's parts, the newest first.
func (s *Slot) changes(yield func(*Slot) bool) bool {
	if s.Op != Group {
		return yield(s)
	}
	for i := len(s.parts) - 1; i >= 0; i-- {
		if !yield(&s.parts[i]) {
			return false
		}
	}
	return true
}

// Snapshot returns the collection that a namespace had at an index of the log, nil if it had none. Where nothing has
// happened to it since, that is the one that it has now.
func (st *Store) Snapshot(ns string, at int64) *Collection {
	if at >= st.Log.Last() {
		return st.Collections[ns]
	}
	c := st.Collections[ns]
	for s := range st.Changes(at) {
		switch {
		case s.Op == Create && s.NS == ns:
			c = nil
		case s.Op == Drop && s.NS == ns, s.Op == Rename && s.NS == ns:
			c = s.on
		case s.Op == Rename && s.Change.To == ns:
			c = s.replaced
		}
	}
	return st.rewind(c, at)
}

// rewind returns a collection as it was at an index of the log: itself, if it has not changed since.
func (st *Store) rewind(c *Collection, at int64) *Collection {
	if c == nil {
		return nil
	}
	def, changed := c.Def, false
	undone, removed := make(map[string][]byte), make(map[string]*Record)
	for s := range st.Changes(at) {
		switch {
		case s.on != c:
			continue
		case s.Op == Alter || s.Op == Rename:
			def = s.Change.Before
		case s.Op == Put || s.Op == Remove:
			undone[s.Key] = s.Before
			if s.removed != nil {
				removed[s.Key] = s.removed // the oldest of a key, which is in another place if it was inserted again
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
func (c *Collection) rewound(before map[string][]byte, removed map[string]*Record) []*Record {
	list := make([]*Record, 0, c.Live)
	add := func(r *Record) bool {
		if doc, changed := before[r.Key]; changed {
			r = &Record{r.ID, r.Key, doc}
		}
		if r.Doc != nil {
			list = append(list, r)
		}
		return true
	}
	for _, r := range removed {
		add(r)
	}
	c.Scan(func(r *Record) bool { return removed[r.Key] != nil || add(r) })
	slices.SortFunc(list, func(a, b *Record) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// adopt makes records, in order, the documents of an empty collection without unique indexes.
func (c *Collection) adopt(list []*Record, last int64) {
	c.last, c.Live, c.Order = last, len(list), list
	c.ByKey = make(map[string]*Record, len(list))
	for _, r := range list {
		c.ByKey[r.Key] = r
		c.Size += int64(len(r.Doc))
	}
}

// Clone returns a collection with the same documents that can be changed by itself.
func (c *Collection) Clone() *Collection {
	list := make([]*Record, 0, c.Live)
	c.Scan(func(r *Record) bool {
		list = append(list, r)
		return true
	})
	copied := newCollection(c.Def)
	copied.adopt(list, c.last)
	copied.define(c.Def)
	return copied
}

// Copy returns a store with the data as it was at an index of the log, as after an initial sync: it has one entry, which it cannot undo.
func (st *Store) Copy(at int64) *Store {
	to := New()
	newest := st.Log.At(at)
	to.collates.Store(st.Collates())
	for ns := range st.Collections {
		if c := st.Snapshot(ns, at); c != nil && !IsProfile(ns) {
			to.Collections[ns] = c.Clone()
		}
	}
	for s := range st.Changes(at) { // what was dropped or renamed since
		if s.Op != Drop && s.Op != Rename || to.Collections[s.NS] != nil {
			continue
		}
		if c := st.Snapshot(s.NS, at); c != nil {
			to.Collections[s.NS] = c.Clone()
		}
	}
	for lsid, s := range st.Sessions {
		known := to.Session(lsid)
		for r := s.head; r != nil && known.head == nil; r = r.prev {
			if r.entry.TS <= newest.TS {
				known.head, known.Active = r, r.Txn
			}
		}
	}
	to.Log = Log{Base: at - 1}
	to.Log.add(Slot{Entry: newest})
	to.last.Store(uint64(newest.TS))
	return to
}
