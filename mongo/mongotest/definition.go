package mongotest

import (
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// uuid names a collection for as long as it exists, whatever it is called.
type uuid [16]byte

func newUUID() uuid {
	var id uuid
	_, _ = rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

// String returns the id in its usual form.
func (id uuid) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// definition is what a collection is but for its documents. It never changes: a command puts another one in its place, by
// way of the oplog, so that members share it and a rollback brings the old one back.
type definition struct {
	uuid     uuid
	options  collectionOptions
	indexes  []*index // that of _id first
	shardKey []byte   // the pattern, nil if it is not sharded
}

// newDefinition returns the definition of a new collection without options.
func newDefinition() *definition { return &definition{uuid: newUUID(), indexes: []*index{idIndex}} }

// definitionOf returns the definition of a new collection, or view, with the indexes that its options give it.
func definitionOf(o collectionOptions) (*definition, error) {
	d := &definition{uuid: newUUID(), options: o}
	var err error
	switch {
	case o.viewOn != "":
	case o.clustered != nil:
		d.indexes = []*index{clusteredIndex(o.clustered, o.expires)}
	case o.timeseries != nil:
		d.indexes, err = o.timeseries.indexes()
	default:
		d.indexes = []*index{idIndex}
	}
	return d, err
}

// with returns the definition with other indexes.
func (d *definition) with(indexes []*index) *definition {
	changed := *d
	changed.indexes = indexes
	return &changed
}

// named returns the index of a name, nil if there is none.
func (d *definition) named(name string) *index {
	i := slices.IndexFunc(d.indexes, func(ix *index) bool { return ix.name == name })
	if i < 0 {
		return nil
	}
	return d.indexes[i]
}

// patterned returns the indexes with a key pattern.
func (d *definition) patterned(pattern []byte) []*index {
	var list []*index
	for _, ix := range d.indexes {
		if query.EqualDocuments(ix.pattern, pattern) {
			list = append(list, ix)
		}
	}
	return list
}

// indexTexts writes a list of indexes as errors do.
func indexTexts(list []*index) string {
	text := ""
	for i, ix := range list {
		if i > 0 {
			text += ", "
		}
		text += ix.String()
	}
	return text
}

// idIndex is the index that every collection has.
var idIndex = newIDIndex()

func newIDIndex() *index {
	at, dst := wire.BeginDocument(nil)
	pattern := wire.EndDocument(wire.AppendInt32(dst, "_id", 1), at)
	at, dst = wire.BeginDocument(nil)
	dst = wire.AppendDocument(wire.AppendInt32(dst, "v", 2), "key", pattern)
	raw := wire.EndDocument(wire.AppendString(dst, "name", idIndexName), at)
	return &index{name: idIndexName, raw: raw, pattern: pattern, paths: [][]string{{"_id"}}}
}

const idIndexName = "_id_"
