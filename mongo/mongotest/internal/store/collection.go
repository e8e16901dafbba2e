package store

import (
	"cmp"
	"slices"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// Record is one stored document. The document's bytes never change; an update puts new ones in their place.
type Record struct {
	ID  int64  // grows with every insertion
	Key string // query.AppendKey of its _id
	Doc []byte // nil once it was removed
}

// Collection holds documents in the order in which they were inserted, and finds them by _id.
type Collection struct {
	Def     *Definition
	Uniques []*Uniqueness // of its unique indexes
	ByKey   map[string]*Record
	Order   []*Record // with removed ones between
	Live    int
	Size    int64 // bytes of all documents
	last    int64 // id of the newest record
}

func newCollection(d *Definition) *Collection {
	return &Collection{Def: d, ByKey: make(map[string]*Record)}
}

// put stores a document, in the place of the one with the same key if there is one.
func (c *Collection) put(key string, doc []byte) {
	r := c.ByKey[key]
	if r == nil {
		c.last++
		r = &Record{ID: c.last, Key: key}
		c.ByKey[key] = r
		c.Order = append(c.Order, r)
		c.Live++
	}
	c.set(r, doc)
}

// set changes a record's document; nil stands for none.
func (c *Collection) set(r *Record, doc []byte) {
	if len(c.Uniques) > 0 {
		c.reindex(r, r.Doc, doc)
	}
	c.Size += int64(len(doc) - len(r.Doc))
	r.Doc = doc
}

// remove removes a document and returns the record that it had.
func (c *Collection) remove(key string) *Record {
	r := c.ByKey[key]
	if r == nil {
		return nil
	}
	delete(c.ByKey, key)
	c.set(r, nil)
	c.Live--
	if len(c.Order) > 64 && c.Live < len(c.Order)/2 {
		c.compact()
	}
	return r
}

// restore takes a removal back: the document is where it was before.
func (c *Collection) restore(r *Record, doc []byte) {
	at, there := slices.BinarySearchFunc(c.Order, r.ID, func(r *Record, id int64) int { return cmp.Compare(r.ID, id) })
	if !there {
		c.Order = slices.Insert(c.Order, at, r)
	}
	c.ByKey[r.Key] = r
	c.Live++
	c.set(r, doc)
}

func (c *Collection) compact() {
	kept := make([]*Record, 0, c.Live)
	for _, r := range c.Order {
		if r.Doc != nil {
			kept = append(kept, r)
		}
	}
	c.Order = kept
}

// Scan calls visit with every document in order until it returns false.
func (c *Collection) Scan(visit func(r *Record) bool) {
	if c == nil {
		return
	}
	order := c.Order
	if c.Def.Options.Clustered != nil {
		order = c.sortedByID(func([]byte) bool { return true }) // it keeps them so
	}
	for _, r := range order {
		if r.Doc != nil && !visit(r) {
			return
		}
	}
}

// find calls visit with every matching document until it returns false; m then has the element by which the document matched.
func (c *Collection) find(f *query.Filter, m *query.Matching, visit func(key string, doc []byte) bool) error {
	if c == nil {
		return nil
	}
	if id, ok := f.ID(); ok && c.HasIDIndex() {
		var buf [64]byte
		r := c.ByKey[string(query.AppendKey(buf[:0], id))]
		if r == nil {
			return nil
		}
		ok, err := f.MatchWith(r.Doc, m)
		if ok {
			visit(r.Key, r.Doc)
		}
		return err
	}
	if scans := f.IDScans(); len(scans) > 0 && c.HasIDIndex() {
		return c.findByID(scans, f, m, visit)
	}
	return c.findInOrder(f, m, visit)
}

// findInOrder is find in the order of the collection.
func (c *Collection) findInOrder(f *query.Filter, m *query.Matching, visit func(key string, doc []byte) bool) error {
	var err error
	c.Scan(func(r *Record) bool {
		var ok bool
		if ok, err = f.MatchWith(r.Doc, m); !ok {
			return err == nil
		}
		return visit(r.Key, r.Doc)
	})
	return err
}

// HasIDIndex reports whether there is an index of _id, as measurements have none.
func (c *Collection) HasIDIndex() bool { return c.Def.Options.Timeseries == nil }

// findByID is find by looks into the index of _id.
func (c *Collection) findByID(scans []query.IDScan, f *query.Filter, m *query.Matching, visit func(key string, doc []byte) bool) error {
	seen := make(map[*Record]bool)
	for i := range scans {
		for _, r := range c.sortedByID(scans[i].Bounds) {
			ok, err := scans[i].Keeps(r.Doc, m)
			if ok && !seen[r] {
				seen[r] = true
				ok, err = f.MatchWith(r.Doc, m)
				if ok && !visit(r.Key, r.Doc) {
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

// FindSortedByID is find in the order of the _ids, or the other way round if the direction is negative.
func (c *Collection) FindSortedByID(direction int64, f *query.Filter, m *query.Matching, visit func(key string, doc []byte) bool) error {
	scans := f.IDScans()
	list := c.sortedByID(func(doc []byte) bool {
		return len(scans) == 0 || slices.ContainsFunc(scans, func(s query.IDScan) bool { return s.Bounds(doc) })
	})
	if direction < 0 {
		slices.Reverse(list)
	}
	for _, r := range list {
		ok, err := f.MatchWith(r.Doc, m)
		if err != nil || ok && !visit(r.Key, r.Doc) {
			return err
		}
	}
	return nil
}

// sortedByID returns the documents that keep wants, in the order of their _ids.
func (c *Collection) sortedByID(keep func(doc []byte) bool) []*Record {
	var list []*Record
	for _, r := range c.Order {
		if r.Doc != nil && keep(r.Doc) {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, byID)
	return list
}

func byID(a, b *Record) int {
	return query.Compare(query.Lookup(a.Doc, "_id"), query.Lookup(b.Doc, "_id"))
}

// PageSize is by how many bytes a file grows.
const PageSize = 4096

// Pages rounds a size in bytes up to whole pages of a file.
func Pages(size int64) int64 { return max(1, (size+PageSize-1)/PageSize) * PageSize }

// Storage returns how many bytes files with the documents and the indexes would have.
func (c *Collection) Storage() int64 { return Pages(c.Size) + c.IndexStorage() }

// IndexStorage returns how many bytes the indexes would take in files.
func (c *Collection) IndexStorage() int64 { return int64(len(c.Def.Indexes)) * PageSize }

// Behind returns the place in the collection's order behind a record, false if that record is gone.
func (c *Collection) Behind(id int64) (int, bool) {
	if id == 0 {
		return 0, true
	}
	at, there := slices.BinarySearchFunc(c.Order, id, func(r *Record, id int64) int { return cmp.Compare(r.ID, id) })
	return at + 1, there && c.Order[at].Doc != nil
}

// Document returns the document with a key, nil if there is none.
func (c *Collection) Document(key string) []byte {
	if r := c.ByKey[key]; r != nil {
		return r.Doc
	}
	return nil
}

// SameDocument reports whether two stored documents are the same one. Documents never change, so
// that comparing the places of their bytes is enough.
func SameDocument(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return &a[0] == &b[0]
}
