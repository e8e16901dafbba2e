package store

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/clustered-collections/

// ParseClustered reads the option clusteredIndex of create, and returns it as listCollections shows it.
func ParseClustered(given query.Value) ([]byte, error) {
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
	err := fields.Clustered.Document(given.Data, func(e *wire.Element) error {
		*map[string]*query.Value{"name": &name, "key": &key, "unique": &unique, "v": &v}[string(e.Key)] = query.Of(*e)
		return nil
	})
	n, _ := v.Integer()
	switch {
	case err != nil:
		return nil, err
	case !unique.True():
		return nil, mongoerr.Errorf(5979700, "The clusteredIndex option requires unique: true to be specified")
	case !query.EqualDocuments(key.Data, IDIndex.Pattern):
		return nil, mongoerr.Errorf(mongoerr.InvalidIndexSpecificationOption, "The clusteredIndex option is only supported for key: {_id: 1}")
	}
	text := idIndexName
	if !name.Missing() {
		text = string(name.Text())
	}
	shown := clusteredText(n, text)
	if n != 2 {
		return nil, mongoerr.Errorf(5979704,
			"Invalid clusteredIndex specification %s; cannot create a clusteredIndex with v=%d", query.DocumentText(shown), n)
	}
	return shown, nil
}

func clusteredText(v int64, name string) []byte {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendDocument(wire.AppendInt32(dst, "v", int32(v)), "key", IDIndex.Pattern)
	return wire.EndDocument(wire.AppendBool(wire.AppendString(dst, "name", name), "unique", true), at)
}

// clusteredIndex returns the index that listIndexes shows of a clustered collection, instead of that of _id.
func clusteredIndex(o *Options) *Index {
	shown := o.Clustered
	raw := slices.Clone(shown[:len(shown)-1])
	if o.Expiring {
		raw = query.AppendSmallest(raw, "expireAfterSeconds", o.Expires)
	}
	if o.Collation != nil {
		raw = wire.AppendDocument(raw, "collation", o.Collation.Shown())
	}
	ix := *IDIndex
	ix.OfID, ix.clusters, ix.Collation = false, true, o.Collation
	ix.Name = string(query.Lookup(shown, "name").Text())
	ix.Raw = wire.EndDocument(wire.AppendBool(raw, "clustered", true), 0)
	return &ix
}

// Clustering returns the index by which a clustered collection keeps its documents, nil of another collection.
func (d *Definition) Clustering() *Index {
	if len(d.Indexes) > 0 && d.Indexes[0].clusters {
		return d.Indexes[0]
	}
	return nil
}

// Built is how many indexes there are beside the order in which documents are kept.
func (d *Definition) Built() int {
	if d.Clustering() != nil {
		return len(d.Indexes) - 1
	}
	return len(d.Indexes)
}
