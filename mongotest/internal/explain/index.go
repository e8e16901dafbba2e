package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// index is an index with what the collection's documents make of it.
type index struct {
	*store.Index
	fields    []indexField
	multikey  bool
	entries   []entry
	collected bool // the entries are there
}

// indexField is one field of an index.
type indexField struct {
	index    *store.Index
	path     string
	sign     int
	sparse   bool
	arrays   []string // the parts of the path that are an array in some document
	multikey bool
	collated bool // the index compares strings as the search does
}

// entry is a key of an index, and the document that has it.
type entry struct {
	key    store.Key
	record *store.Record
}

// newIndex is for the index with a number of the query's.
func (q *Query) newIndex(at int) *index {
	ix := q.Indexes[at]
	x := &index{Index: ix}
	sparse := query.Lookup(ix.Raw, "sparse")
	collated := query.Lookup(ix.Raw, "collation").Missing() && !q.Collated
	for it := wire.Elements(ix.Pattern); it.Next(); {
		f := indexField{index: ix, path: string(it.Key), sign: 1, sparse: sparse.True(), collated: collated}
		if query.Of(it.Element).AsFloat64() < 0 {
			f.sign = -1
		}
		if list := q.Arrays[at]; list != nil {
			f.arrays = list[len(x.fields)]
		}
		f.multikey = len(f.arrays) > 0
		x.multikey = x.multikey || f.multikey
		x.fields = append(x.fields, f)
	}
	return x
}

// keys returns the entries of the index in its order.
func (x *index) keys(records []*store.Record) []entry {
	if x.collected {
		return x.entries
	}
	x.collected = true
	for _, r := range records {
		keys, err := x.Keys(r.Doc)
		if err != nil {
			continue // the server has refused such a document
		}
		for _, k := range uniqueKeys(keys) {
			x.entries = append(x.entries, entry{k, r})
		}
	}
	slices.SortStableFunc(x.entries, func(a, b entry) int { return cmp.Or(x.compare(a.key, b.key), cmp.Compare(a.record.ID, b.record.ID)) })
	return x.entries
}

func uniqueKeys(keys []store.Key) []store.Key {
	seen := make(map[string]bool, len(keys))
	return slices.DeleteFunc(keys, func(k store.Key) bool {
		text := k.Encode()
		defer func() { seen[text] = true }()
		return seen[text]
	})
}

func (x *index) compare(a, b store.Key) int {
	for i := range min(len(a), len(b)) {
		if c := query.Compare(a[i], b[i]); c != 0 {
			return c * x.fields[i].sign
		}
	}
	return 0
}

// serves reports whether the index may be used for a filter: it is of plain values, not hidden, and has all that the filter finds.
func (x *index) serves(c *condition) bool {
	return !x.Hidden && x.Ordered() && !strings.Contains(string(x.Raw), "clustered\x00") && x.holdsAll(c)
}

// holdsAll reports whether the index has all documents that a filter finds.
func (x *index) holdsAll(c *condition) bool {
	partial := query.Lookup(x.Raw, "partialFilterExpression")
	return partial.Missing() || implies(c, parseFilter(partial.Data, nil))
}

// complete reports whether the index has every document.
func (x *index) complete() bool {
	return !x.fields[0].sparse && query.Lookup(x.Raw, "partialFilterExpression").Missing()
}

// implies reports whether all that meets one condition is known to meet another.
func implies(c, other *condition) bool {
	if other.op == "$and" {
		return !slices.ContainsFunc(other.children, func(o *condition) bool { return !implies(c, o) })
	}
	if string(c.document()) == string(other.document()) {
		return true
	}
	if c.op == "$and" {
		return slices.ContainsFunc(c.children, func(each *condition) bool { return implies(each, other) })
	}
	if c.path != other.path || c.path == "" {
		return false
	}
	field := &indexField{index: store.IDIndex, collated: true}
	list, how := c.bounds(field)
	if other.op == "$exists" {
		return how == exact && c.op != "$exists" || c.op == "$exists"
	}
	wider, exactly := other.bounds(field)
	if how == impossible || exactly != exact || how != exact {
		return false
	}
	return !slices.ContainsFunc(list, func(i interval) bool {
		return !slices.ContainsFunc(wider, func(w interval) bool { return sameInterval(meet(i, w), i) })
	})
}

func sameInterval(a, b interval) bool {
	return query.Compare(a.from, b.from) == 0 && query.Compare(a.to, b.to) == 0 && a.fromOpen == b.fromOpen && a.toOpen == b.toOpen
}
