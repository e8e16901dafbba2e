package mongotest

import (
	"slices"
	"strings"

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

// identifies tells whether an index keeps any two documents from having the same values of some fields.
func (ix *index) identifies(fields []string) bool {
	if !ix.unique || ix.partial != nil || len(ix.paths) != len(fields) {
		return false
	}
	return !slices.ContainsFunc(ix.paths, func(p []string) bool { return !slices.Contains(fields, strings.Join(p, ".")) })
}
