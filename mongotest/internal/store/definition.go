package store

import (
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// UUID names a collection for as long as it exists, whatever it is called.
type UUID [16]byte

// NewUUID returns a random id.
func NewUUID() UUID {
	var id UUID
	_, _ = rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

// String returns the id in its usual form.
func (id UUID) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// Definition is what a collection is but for its documents. It never changes: a command puts another one in its place, by
// way of the oplog, so that members share it and a rollback brings the old one back.
type Definition struct {
	UUID     UUID
	Options  Options
	Indexes  []*Index // that of _id first
	ShardKey []byte   // the pattern, nil if it is not sharded
}

// NewDefinition returns the definition of a new collection without options.
func NewDefinition() *Definition { return &Definition{UUID: NewUUID(), Indexes: []*Index{IDIndex}} }

// DefinitionOf returns the definition of a new collection, or view, with the indexes that its options give it.
func DefinitionOf(o Options) (*Definition, error) {
	d := &Definition{UUID: NewUUID(), Options: o}
	var err error
	switch {
	case o.ViewOn != "":
	case o.Clustered != nil:
		d.Indexes = []*Index{clusteredIndex(&o)}
	case o.Timeseries != nil:
		d.Indexes, err = o.Timeseries.indexes(o.Collation)
	default:
		d.Indexes = []*Index{newIDIndex(o.Collation)}
	}
	return d, err
}

// With returns the definition with other indexes.
func (d *Definition) With(indexes []*Index) *Definition {
	changed := *d
	changed.Indexes = indexes
	return &changed
}

// HasIDIndex reports whether there is an index of _id, as measurements have none.
func (d *Definition) HasIDIndex() bool { return d.Options.Timeseries == nil }

// Named returns the index of a name, nil if there is none.
func (d *Definition) Named(name string) *Index {
	i := slices.IndexFunc(d.Indexes, func(ix *Index) bool { return ix.Name == name })
	if i < 0 {
		return nil
	}
	return d.Indexes[i]
}

// Patterned returns the indexes with a key pattern.
func (d *Definition) Patterned(pattern []byte) []*Index {
	var list []*Index
	for _, ix := range d.Indexes {
		if query.EqualDocuments(ix.Pattern, pattern) {
			list = append(list, ix)
		}
	}
	return list
}

// IndexTexts returns a list of indexes as errors have it.
func IndexTexts(list []*Index) string {
	text := ""
	for i, ix := range list {
		if i > 0 {
			text += ", "
		}
		text += ix.String()
	}
	return text
}

// IDKey returns the key of an _id in the collection.
func (d *Definition) IDKey(id query.Value) string {
	var buf [64]byte
	return string(query.AppendKey(buf[:0], query.Keyed(d.Options.Collation.Rule(), id)))
}

// IDIndex is the index that every collection without a collation has.
var IDIndex = makeIDIndex(nil)

func newIDIndex(c *collation.Collation) *Index {
	if c == nil {
		return IDIndex
	}
	return makeIDIndex(c)
}

func makeIDIndex(c *collation.Collation) *Index {
	at, dst := wire.BeginDocument(nil)
	pattern := wire.EndDocument(wire.AppendInt32(dst, "_id", 1), at)
	at, dst = wire.BeginDocument(nil)
	dst = wire.AppendDocument(wire.AppendInt32(dst, "v", 2), "key", pattern)
	dst = wire.AppendString(dst, "name", idIndexName)
	if c != nil {
		dst = wire.AppendDocument(dst, "collation", c.Shown())
	}
	raw := wire.EndDocument(dst, at)
	return &Index{Name: idIndexName, Raw: raw, Pattern: pattern, Paths: [][]string{{"_id"}}, OfID: true, Collation: c}
}

const idIndexName = "_id_"
