package store

import (
	"cmp"
	"slices"
)

// Record is one stored document. Neither it nor the document's bytes ever change; an update puts another record in its place.
type Record struct {
	ID  int64  // grows with every insertion
	Key string // query.AppendKey of its _id
	Doc []byte // nil where one was removed
}

// Collection holds documents in the order in which they were inserted, and finds them by _id.
type Collection struct {
	Def     *Definition
	Uniques []*Uniqueness // of its unique indexes
	ByKey   map[string]*Record
	Order   []*Record // with removed ones between
	Live    int
	Size    int64            // bytes of all documents
	last    int64            // id of the newest record
	shared  bool             // a view has the elements of Order
	late    func() []*Record // makes the records, which are not in Order; nil if they are
	states  []*indexState    // of its indexes, in their order; nil in a copy for a transaction or a snapshot
	choices map[string]chosen
}

func newCollection(d *Definition) *Collection {
	return &Collection{Def: d, ByKey: make(map[string]*Record)}
}

// put stores a document. It replaces the one with the same key, if there is one.
func (c *Collection) put(key string, doc []byte) {
	old := c.ByKey[key]
	r := &Record{Key: key, Doc: doc}
	if old == nil {
		c.last++
		r.ID = c.last
		c.Order = append(c.Order, r)
	} else {
		r.ID = old.ID
		at, _ := c.place(r.ID)
		c.own()[at] = r
	}
	c.enter(old, r)
}

// place returns the place of the record with an id, and whether there is one.
func (c *Collection) place(id int64) (int, bool) {
	return slices.BinarySearchFunc(c.Order, id, func(r *Record, id int64) int { return cmp.Compare(r.ID, id) })
}

// own returns the order for a change of what is in it. A view keeps the elements that it has.
func (c *Collection) own() []*Record {
	if c.shared {
		c.Order, c.shared = slices.Clone(c.Order), false
	}
	return c.Order
}

// enter makes a record that is in the order the one with its key, instead of another one; nil stands for none.
func (c *Collection) enter(old, r *Record) {
	c.ByKey[r.Key] = r
	c.Size += int64(len(r.Doc))
	if old != nil {
		c.Size -= int64(len(old.Doc))
	} else {
		c.Live++
	}
	c.reindex(old, r)
	c.markArrays(r.Doc)
}

// remove removes a document and returns the record that it had.
func (c *Collection) remove(key string) *Record {
	old := c.ByKey[key]
	if old == nil {
		return nil
	}
	delete(c.ByKey, key)
	c.Size -= int64(len(old.Doc))
	c.Live--
	at, _ := c.place(old.ID)
	c.own()[at] = &Record{ID: old.ID, Key: key}
	c.reindex(old, nil)
	if len(c.Order) > 64 && c.Live < len(c.Order)/2 {
		c.compact()
	}
	return old
}

// restore takes a removal back: the document is where it was before.
func (c *Collection) restore(removed *Record, doc []byte) {
	r := &Record{removed.ID, removed.Key, doc}
	at, there := c.place(r.ID)
	if there {
		c.own()[at] = r
	} else {
		c.Order = slices.Insert(c.own(), at, r)
	}
	c.enter(nil, r)
}

func (c *Collection) compact() {
	kept := make([]*Record, 0, c.Live)
	for _, r := range c.Order {
		if r.Doc != nil {
			kept = append(kept, r)
		}
	}
	c.Order, c.shared = kept, false
}

// Scan calls visit with every document in order until it returns false.
func (c *Collection) Scan(visit func(r *Record) bool) {
	v := c.Now()
	v.Scan(visit)
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
	at, there := c.place(id)
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
