package mongotest

import (
	"cmp"
	"slices"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// record is one stored document. The document's bytes never change; an update puts new ones in their place.
type record struct {
	id  int64  // grows with every insertion
	key string // query.AppendKey of its _id
	doc []byte // nil once it was removed
}

// collection holds documents in the order in which they were inserted, and finds them by _id.
type collection struct {
	def     *definition
	uniques []*uniqueness // of its unique indexes
	byID    map[string]*record
	order   []*record // with removed ones between
	live    int
	size    int64 // bytes of all documents
	last    int64 // id of the newest record
}

func newCollection(d *definition) *collection {
	return &collection{def: d, byID: make(map[string]*record)}
}

// put stores a document, in the place of the one with the same key if there is one.
func (c *collection) put(key string, doc []byte) {
	r := c.byID[key]
	if r == nil {
		c.last++
		r = &record{id: c.last, key: key}
		c.byID[key] = r
		c.order = append(c.order, r)
		c.live++
	}
	c.set(r, doc)
}

// set changes a record's document; nil stands for none.
func (c *collection) set(r *record, doc []byte) {
	if len(c.uniques) > 0 {
		c.reindex(r, r.doc, doc)
	}
	c.size += int64(len(doc) - len(r.doc))
	r.doc = doc
}

// remove removes a document and returns the record that it had.
func (c *collection) remove(key string) *record {
	r := c.byID[key]
	if r == nil {
		return nil
	}
	delete(c.byID, key)
	c.set(r, nil)
	c.live--
	if len(c.order) > 64 && c.live < len(c.order)/2 {
		c.compact()
	}
	return r
}

// restore takes a removal back: the document is where it was before.
func (c *collection) restore(r *record, doc []byte) {
	at, there := slices.BinarySearchFunc(c.order, r.id, func(r *record, id int64) int { return cmp.Compare(r.id, id) })
	if !there {
		c.order = slices.Insert(c.order, at, r)
	}
	c.byID[r.key] = r
	c.live++
	c.set(r, doc)
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
	order := c.order
	if c.def.options.clustered != nil {
		order = c.sortedByID(func([]byte) bool { return true }) // it keeps them so
	}
	for _, r := range order {
		if r.doc != nil && !visit(r) {
			return
		}
	}
}

// find calls visit with every matching document until it returns false; m tells then by what the document matched.
func (c *collection) find(f *query.Filter, m *query.Matching, visit func(key string, doc []byte) bool) error {
	if c == nil {
		return nil
	}
	if id, ok := f.ID(); ok && c.hasIDIndex() {
		var buf [64]byte
		r := c.byID[string(query.AppendKey(buf[:0], id))]
		if r == nil {
			return nil
		}
		ok, err := f.MatchWith(r.doc, m)
		if ok {
			visit(r.key, r.doc)
		}
		return err
	}
	if scans := f.IDScans(); len(scans) > 0 && c.hasIDIndex() {
		return c.findByID(scans, f, m, visit)
	}
	return c.findInOrder(f, m, visit)
}

// findInOrder is find in the order of the collection.
func (c *collection) findInOrder(f *query.Filter, m *query.Matching, visit func(key string, doc []byte) bool) error {
	var err error
	c.scan(func(r *record) bool {
		var ok bool
		if ok, err = f.MatchWith(r.doc, m); !ok {
			return err == nil
		}
		return visit(r.key, r.doc)
	})
	return err
}

// hasIDIndex tells whether there is an index of _id, as measurements have none.
func (c *collection) hasIDIndex() bool { return c.def.options.timeseries == nil }

// findByID is find by looks into the index of _id.
func (c *collection) findByID(scans []query.IDScan, f *query.Filter, m *query.Matching, visit func(key string, doc []byte) bool) error {
	seen := make(map[*record]bool)
	for i := range scans {
		for _, r := range c.sortedByID(scans[i].Bounds) {
			ok, err := scans[i].Keeps(r.doc, m)
			if ok && !seen[r] {
				seen[r] = true
				ok, err = f.MatchWith(r.doc, m)
				if ok && !visit(r.key, r.doc) {
					return nil
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// findSortedByID is find in the order of the _ids, or the other way round if the direction is negative.
func (c *collection) findSortedByID(direction int64, f *query.Filter, m *query.Matching, visit func(key string, doc []byte) bool) error {
	scans := f.IDScans()
	list := c.sortedByID(func(doc []byte) bool {
		return len(scans) == 0 || slices.ContainsFunc(scans, func(s query.IDScan) bool { return s.Bounds(doc) })
	})
	if direction < 0 {
		slices.Reverse(list)
	}
	for _, r := range list {
		ok, err := f.MatchWith(r.doc, m)
		if err != nil || ok && !visit(r.key, r.doc) {
			return err
		}
	}
	return nil
}

// sortedByID returns the documents that keep wants, in the order of their _ids.
func (c *collection) sortedByID(keep func(doc []byte) bool) []*record {
	var list []*record
	for _, r := range c.order {
		if r.doc != nil && keep(r.doc) {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, byID)
	return list
}

func byID(a, b *record) int {
	return query.Compare(query.Lookup(a.doc, "_id"), query.Lookup(b.doc, "_id"))
}

// page is what files grow by, in bytes.
const page = 4096

// pages rounds a size up to what a file would have.
func pages(size int64) int64 { return max(1, (size+page-1)/page) * page }

// storage returns how many bytes files with the documents and the indexes would have.
func (c *collection) storage() int64 { return pages(c.size) + c.indexStorage() }

func (c *collection) indexStorage() int64 { return int64(len(c.def.indexes)) * page }

// behind returns where in the collection's order the records behind one begin, false if that record is gone.
func (c *collection) behind(id int64) (int, bool) {
	if id == 0 {
		return 0, true
	}
	at, there := slices.BinarySearchFunc(c.order, id, func(r *record, id int64) int { return cmp.Compare(r.id, id) })
	return at + 1, there && c.order[at].doc != nil
}

// at returns the document with a key, nil if there is none.
func (c *collection) at(key string) []byte {
	if r := c.byID[key]; r != nil {
		return r.doc
	}
	return nil
}

// sameDocument tells whether two stored documents are one and the same: documents never change, they are replaced.
func sameDocument(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return &a[0] == &b[0]
}
