// Package planfilter has the index filters of a collection: which indexes the plans of queries of one shape may use.
package planfilter

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/explain"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/planCacheSetFilter/

// Query is a query by whose shape a filter is found.
type Query struct {
	Filter, Sort, Projection []byte
	Collation                []byte // with all of its fields, nil for none
}

// shape is what queries have in common that differ only in the values that they look for.
func (q *Query) shape() string {
	sort := ""
	for it := wire.Elements(q.Sort); it.Next(); {
		sort += fmt.Sprintf("%q:%t,", it.Key, query.Of(it.Element).AsFloat64() < 0)
	}
	projection := q.Projection
	if len(projection) <= len(query.EmptyDocument) {
		projection = nil
	}
	return fmt.Sprintf("%s %s %s %s", explain.Shape(q.Filter), sort, query.DocumentText(projection), query.DocumentText(q.Collation))
}

// Filter lets the plans of queries of a shape use some indexes only.
type Filter struct {
	Query
	Indexes []query.Value // names and keys
}

// ReadIndexes reads the field "indexes" of planCacheSetFilter.
func ReadIndexes(v query.Value) ([]query.Value, error) {
	list := query.Elements(v.Data)
	switch {
	case v.Missing():
		return nil, mongoerr.Errorf(mongoerr.BadValue, "required field indexes missing")
	case !v.IsArray():
		return nil, mongoerr.Errorf(mongoerr.BadValue, "required field indexes must be an array")
	case len(list) == 0:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "required field indexes must contain at least one index")
	}
	for _, each := range list {
		switch {
		case !each.IsString() && !each.IsDocument():
			return nil, mongoerr.Errorf(mongoerr.BadValue, "each item in indexes must be an object or string")
		case each.IsDocument() && len(each.Data) <= len(query.EmptyDocument):
			return nil, mongoerr.Errorf(mongoerr.BadValue, "index specification cannot be empty")
		}
	}
	return list, nil
}

// Permits reports whether the filter names an index.
func (f *Filter) Permits(ix *store.Index) bool {
	return slices.ContainsFunc(f.Indexes, func(v query.Value) bool { return names(v, ix) })
}

func names(v query.Value, ix *store.Index) bool {
	if v.IsDocument() {
		return query.Compare(v, query.Value{Type: v.Type, Data: ix.Pattern}) == 0
	}
	return string(v.Text()) == ix.Name
}

// Filters are those of a collection, in the order in which they were set. The zero value has none.
type Filters []Filter

// Set adds a filter, or replaces the one for the same shape.
func (l Filters) Set(f Filter) Filters {
	f.Filter, f.Sort, f.Projection, f.Collation = bytes.Clone(f.Filter), bytes.Clone(f.Sort), bytes.Clone(f.Projection), bytes.Clone(f.Collation)
	for i := range f.Indexes {
		f.Indexes[i].Data = bytes.Clone(f.Indexes[i].Data)
	}
	return append(l.Without(&f.Query), f)
}

// Without returns the filters for other shapes.
func (l Filters) Without(q *Query) Filters {
	shape := q.shape()
	return slices.DeleteFunc(slices.Clone(l), func(f Filter) bool { return f.shape() == shape })
}

// Of returns the filter for the shape of a query, nil if there is none.
func (l Filters) Of(q *Query) *Filter {
	if len(l) == 0 {
		return nil
	}
	shape := q.shape()
	if i := slices.IndexFunc(l, func(f Filter) bool { return f.shape() == shape }); i >= 0 {
		return &l[i]
	}
	return nil
}

// Append writes the filters as planCacheListFilters does.
func (l Filters) Append(dst []byte) []byte {
	list, dst := wire.BeginArray(dst, "filters")
	for i, f := range l {
		at, d := wire.BeginEmbedded(dst, wire.ArrayKey(i))
		d = appendOrEmpty(d, "query", f.Filter)
		d = appendOrEmpty(d, "sort", f.Sort)
		d = appendOrEmpty(d, "projection", f.Projection)
		if f.Collation != nil {
			d = wire.AppendDocument(d, "collation", f.Collation)
		}
		indexes := query.Array(f.Indexes)
		dst = wire.EndDocument(wire.AppendValue(d, "indexes", indexes.Type, indexes.Data), at)
	}
	return wire.EndDocument(dst, list)
}

func appendOrEmpty(dst []byte, name string, doc []byte) []byte {
	if doc == nil {
		doc = query.EmptyDocument
	}
	return wire.AppendDocument(dst, name, doc)
}
