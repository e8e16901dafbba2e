package explain

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Kind is what a command does with the documents that it finds.
type Kind uint8

// The kinds of commands.
const (
	Find Kind = iota
	Count
	Distinct
	Update
	Delete
)

// Query is a search, and the collection that it is in.
type Query struct {
	Kind       Kind
	Filter     []byte // as the command has it
	Sort       []byte // nil for none, without $natural
	Projection []byte // nil for none
	Skip       int64
	Limit      int64 // 0 for none
	ReturnKey  bool
	RecordID   bool   // the result shows it
	Key        string // of a distinct
	Grouped    bool   // it is that of a $group, to which an array is one value
	Collated   bool   // strings are compared by a collation
	Collation  []byte // that one, with all of its fields

	Multi   bool // an update or delete is of all that it finds
	Upsert  bool
	Returns bool // it is a findAndModify
	After   bool // which returns the document after the update

	Index    *store.Index // the one that must be used, nil for the best
	Natural  int64        // 1 or -1: no index may be used; 0 if one may
	Min, Max []byte       // bounds of the index that must be used

	NS      string
	Exists  bool
	Records []*store.Record // all documents, in their order
	Indexes []*store.Index
	Arrays  [][][]string            // as the collection has them of the indexes
	Permits func(*store.Index) bool // an index filter; nil where all indexes may be used
	Express bool                    // the server has the stages EXPRESS, as since 8.0

	Search *Search // of a $near or $text, nil if the filter has none

	Match   func(filter []byte) (func(doc []byte) (bool, error), error) // compiles a filter
	Compare func(sort []byte) (func(a, b []byte) int, error)            // compiles a sort
}

// byID returns the condition's _id, if it asks for one and nothing else.
func byID(c *condition) (query.Value, bool) {
	return c.value, c.op == "$eq" && c.path == "_id" && !c.value.IsArray() && !c.value.IsNullish()
}
