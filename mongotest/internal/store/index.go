package store

import (
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongotest/internal/fulltext"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Index is one index's specification. It never changes.
type Index struct {
	Name      string
	Raw       []byte // the specification as it is kept
	Pattern   []byte // its key
	plugin    string // "text", "hashed" and so on; "" if the keys are ordered values
	Paths     [][]string
	Unique    bool
	Prepared  bool // it takes no further duplicates
	sparse    bool
	Hidden    bool
	partial   *query.Filter // nil if every document is in it
	OfID      bool          // it is that of _id, which every collection has
	Collation *collation.Collation
	Flaw      error           // why it cannot be built after all
	Late      bool            // and that this shows when building has begun
	plane     *plane          // of a 2d index
	text      *fulltext.Index // of a text index
	wildcards string          // its wildcardProjection, so that those that mean the same are the same text
	clusters  bool            // it is the order in which a clustered collection keeps its documents
}

// String returns the specification as the real server writes it into errors.
func (ix *Index) String() string { return query.DocumentText(ix.Raw) }

// Ordered reports whether the index's keys are the documents' values, in order.
func (ix *Index) Ordered() bool { return ix.plugin == "" }

// constrains reports whether a document may be refused because of the index.
func (ix *Index) constrains() bool {
	return ix.plane != nil || ix.refusesDuplicates() && !ix.OfID || ix.Ordered() && !ix.OfID && (len(ix.Paths) > 1 || slices.ContainsFunc(ix.Paths, mayBePlace))
}

// mayBePlace reports whether a path has a name, after the first, that an element of an array may have too.
func mayBePlace(path []string) bool {
	return slices.ContainsFunc(path[1:], func(name string) bool { return strings.Trim(name, "0123456789") == "" })
}

func (ix *Index) refusesDuplicates() bool { return ix.Unique || ix.Prepared }

// Sparse reports whether the index has no documents that have none of its fields.
func (ix *Index) Sparse() bool { return ix.sparse }

// Identifies reports whether an index keeps any two documents from having the same values of some fields by a collation.
func (ix *Index) Identifies(fields []string, by *collation.Collation) bool {
	if !ix.Unique || !collation.Same(ix.Collation, by) || ix.partial != nil || len(ix.Paths) != len(fields) {
		return false
	}
	return !slices.ContainsFunc(ix.Paths, func(p []string) bool { return !slices.Contains(fields, strings.Join(p, ".")) })
}
