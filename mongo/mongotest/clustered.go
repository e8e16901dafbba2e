package mongotest

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/clustered-collections/

// clusteredArg reads the option clusteredIndex of create, and returns it as listCollections shows it.
func clusteredArg(given query.Value) ([]byte, error) {
	switch {
	case given.Type == bson.TypeBoolean || given.IsNumber():
		return nil, mongoerr.Errorf(5979703, "The 'clusteredIndex' legacy format {clusteredIndex: <bool>} is only supported for specific internal "+
			"collections and vice versa")
	case !given.IsDocument():
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field 'create.clusteredIndex' is the wrong type '%s', expected types '[bool]'",
			query.TypeName(given.Type))
	}
	v := query.Int32(2)
	var name, key, unique query.Value
	err := clusteredFields.document(given.Data, func(e *wire.Element) error {
		*map[string]*query.Value{"name": &name, "key": &key, "unique": &unique, "v": &v}[string(e.Key)] = query.Of(*e)
		return nil
	})
	n, _ := v.Integer()
	switch {
	case err != nil:
		return nil, err
	case !unique.True():
		return nil, mongoerr.Errorf(5979700, "The clusteredIndex option requires unique: true to be specified")
	case !equalDocuments(key.Data, idIndex.pattern):
		return nil, mongoerr.Errorf(mongoerr.InvalidIndexSpecificationOption, "The clusteredIndex option is only supported for key: {_id: 1}")
	}
	text := idIndexName
	if !name.Missing() {
		text = string(name.Text())
	}
	shown := clusteredText(n, text)
	if n != 2 {
		return nil, mongoerr.Errorf(5979704, "Invalid clusteredIndex specification %s; cannot create a clusteredIndex with v=%d", documentText(shown), n)
	}
	return shown, nil
}

func clusteredText(v int64, name string) []byte {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendDocument(wire.AppendInt32(dst, "v", int32(v)), "key", idIndex.pattern)
	return wire.EndDocument(wire.AppendBool(wire.AppendString(dst, "name", name), "unique", true), at)
}

// clusteredIndex returns the index that listIndexes shows of a clustered collection, in the place of that of _id.
func clusteredIndex(shown []byte, expires int64) *index {
	raw := slices.Clone(shown[:len(shown)-1])
	if expires > 0 {
		raw = appendSmallest(raw, "expireAfterSeconds", expires)
	}
	ix := *idIndex
	ix.clusters = true
	ix.name = string(query.Lookup(shown, "name").Text())
	ix.raw = wire.EndDocument(wire.AppendBool(raw, "clustered", true), 0)
	return &ix
}

// clustering returns the index by which a clustered collection keeps its documents, nil of another collection.
func (d *definition) clustering() *index {
	if len(d.indexes) > 0 && d.indexes[0].clusters {
		return d.indexes[0]
	}
	return nil
}

// built is how many indexes there are beside the order in which documents are kept.
func (d *definition) built() int {
	if d.clustering() != nil {
		return len(d.indexes) - 1
	}
	return len(d.indexes)
}
