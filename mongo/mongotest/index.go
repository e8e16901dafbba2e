package mongotest

import (
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// index is one index's specification. It never changes.
type index struct {
	name     string
	raw      []byte // the specification as it is kept
	pattern  []byte // its key
	plugin   string // "text", "hashed" and so on; "" if the keys are ordered values
	paths    [][]string
	unique   bool
	prepared bool // it takes no further duplicates
	sparse   bool
	hidden   bool
	partial  *query.Filter // nil if every document is in it
	collate  *collation.Collation
	flaw     error // why it cannot be built after all
	late     bool  // and that this shows when building has begun
	clusters bool  // it is the order in which a clustered collection keeps its documents
}

// String returns the specification as the real server writes it into errors.
func (ix *index) String() string { return query.DocumentText(ix.raw) }

// ordered tells whether the index's keys are the documents' values, in order.
func (ix *index) ordered() bool { return ix.plugin == "" }

// constrains tells whether a document may be refused because of the index.
func (ix *index) constrains() bool {
	return ix.ordered() && ix != idIndex && (ix.refusesDuplicates() || len(ix.paths) > 1 || slices.ContainsFunc(ix.paths, mayBePlace))
}

// mayBePlace tells whether a path has a name, after the first, that an element of an array may have too.
func mayBePlace(path []string) bool {
	return slices.ContainsFunc(path[1:], func(name string) bool { return strings.Trim(name, "0123456789") == "" })
}

func (ix *index) refusesDuplicates() bool { return ix.unique || ix.prepared }

// holds tells whether the index has an entry for a document.
func (ix *index) holds(doc []byte) bool {
	if !ix.ordered() || ix.partial == nil && !ix.sparse {
		return true
	}
	keys, err := ix.keys(doc)
	return err != nil || len(keys) > 0
}

// shown returns the specification as listIndexes has it: version, key and name first.
func (ix *index) shown() []byte {
	at, dst := wire.BeginDocument(nil)
	for _, name := range [...]string{"v", "key", "name"} {
		v := query.Lookup(ix.raw, name)
		dst = wire.AppendValue(dst, name, v.Type, v.Data)
	}
	it := wire.Elements(ix.raw)
	for it.Next() {
		switch string(it.Key) {
		case "v", "key", "name":
		default:
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	return wire.EndDocument(dst, at)
}

// sameIndex tells whether two indexes would hold the same entries, so that only one of them may be.
func sameIndex(a, b *index) bool {
	return query.EqualDocuments(a.pattern, b.pattern) && a.unique == b.unique && a.sparse == b.sparse &&
		query.Equal(query.Lookup(a.raw, "partialFilterExpression"), query.Lookup(b.raw, "partialFilterExpression")) &&
		query.Equal(query.Lookup(a.raw, "collation"), query.Lookup(b.raw, "collation"))
}

// sameOptions tells whether what sameIndex leaves out is the same too.
func sameOptions(a, b *index) bool {
	return a.hidden == b.hidden && hasOptionsOf(a, b) && hasOptionsOf(b, a)
}

// hasOptionsOf tells whether b has every option that a has.
func hasOptionsOf(a, b *index) bool {
	it := wire.Elements(a.raw)
	for it.Next() {
		switch string(it.Key) {
		case "v", "key", "name", "unique", "sparse", "hidden", "background", "partialFilterExpression", "textIndexVersion",
			"2dsphereIndexVersion":
		default:
			if !query.Equal(query.Of(it.Element), query.Lookup(b.raw, string(it.Key))) {
				return false
			}
		}
	}
	return true
}
