package mongotest

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/clustered-collections/

// clusteredArg reads the option clusteredIndex of create, and returns it as listCollections shows it.
func clusteredArg(v query.Value) ([]byte, error) {
	const field = "create.clusteredIndex"
	if !v.IsDocument() {
		return nil, wrongType("create", "clusteredIndex", v.Type, "object")
	}
	name, key, unique := query.Value{}, query.Value{}, query.Value{}
	it := wire.Elements(v.Data)
	for it.Next() {
		switch string(it.Key) {
		case "v":
		case "key":
			key = query.Of(it.Element)
		case "name":
			name = query.Of(it.Element)
		case "unique":
			unique = query.Of(it.Element)
		default:
			return nil, unknownField(field, string(it.Key))
		}
	}
	switch {
	case it.Err != nil:
		return nil, it.Err
	case key.Missing():
		return nil, failf(codeMissingField, "BSON field '%s.key' is missing but a required field", field)
	case unique.Missing():
		return nil, failf(codeMissingField, "BSON field '%s.unique' is missing but a required field", field)
	case !key.IsDocument() || !equalDocuments(key.Data, idIndex.pattern):
		return nil, failf(codeInvalidIndexSpecificationOption, "The clusteredIndex option is only supported for key: {_id: 1}")
	case !unique.True():
		return nil, failf(5979700, "The clusteredIndex option requires unique: true to be specified")
	case !name.Missing() && name.Type != bson.TypeString:
		return nil, wrongType(field, "name", name.Type, "string")
	}
	text := idIndexName
	if !name.Missing() {
		text = string(name.Text())
	}
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendDocument(wire.AppendInt32(dst, "v", 2), "key", idIndex.pattern)
	return wire.EndDocument(wire.AppendBool(wire.AppendString(dst, "name", text), "unique", true), at), nil
}

// clusteredIndex returns the index that listIndexes shows of a clustered collection, in the place of that of _id.
func clusteredIndex(shown []byte) *index {
	raw := slices.Clone(shown[:len(shown)-1])
	ix := *idIndex
	ix.name = string(query.Lookup(shown, "name").Text())
	ix.raw = wire.EndDocument(wire.AppendBool(raw, "clustered", true), 0)
	return &ix
}

// clustered returns the documents of a clustered collection in the order in which it keeps them, that of _id.
func (c *collection) clustered() []*record {
	list := slices.DeleteFunc(slices.Clone(c.order), func(r *record) bool { return r.doc == nil })
	slices.SortStableFunc(list, byID)
	return list
}
