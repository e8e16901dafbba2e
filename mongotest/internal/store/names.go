package store

import (
	"bytes"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/dot-dollar-considerations/

// dollarPath returns the path of the first name in a document, at any depth, that begins with a dollar and is no DBRef's.
func dollarPath(doc []byte) []string {
	it := wire.Elements(doc)
	for it.Next() {
		if name := string(it.Key); strings.HasPrefix(name, "$") && !query.IsReferenceField(name) {
			return []string{name}
		}
		if it.Type != bson.TypeEmbeddedDocument && it.Type != bson.TypeArray {
			continue
		}
		if path := dollarPath(it.Value); path != nil {
			return append([]string{string(it.Key)}, path...)
		}
	}
	return nil
}

// checkIDNames refuses an _id with names in it that begin with a dollar.
func checkIDNames(id query.Value) error {
	if !id.IsDocument() {
		return nil
	}
	if path := dollarPath(id.Data); path != nil {
		return mongoerr.Errorf(mongoerr.DollarPrefixedFieldName, "_id fields may not contain '$'-prefixed fields: %s is not valid for storage.",
			path[len(path)-1])
	}
	return nil
}

// CheckInsertedNames refuses a document with a field whose name begins with a dollar, as servers did before 5.0.
func CheckInsertedNames(doc []byte) error {
	it := wire.Elements(doc)
	for it.Next() {
		if len(it.Key) > 0 && it.Key[0] == '$' {
			return mongoerr.Errorf(mongoerr.BadValue, "Document can't have $ prefixed field names: %s", it.Key)
		}
	}
	return nil
}

// CheckUpdatedNames refuses fields whose names begin with a dollar and that an update put into a document, as servers did before 5.0.
func CheckUpdatedNames(before, after []byte) error {
	it := wire.Elements(after)
	for it.Next() {
		if was := query.Lookup(before, string(it.Key)); was.Type == it.Type && bytes.Equal(was.Data, it.Value) {
			continue
		}
		at, field := wire.BeginDocument(nil)
		if path := dollarPath(wire.EndDocument(wire.AppendElement(field, it.Element), at)); path != nil {
			return mongoerr.Errorf(mongoerr.DollarPrefixedFieldName, "The dollar ($) prefixed field '%s' in '%s' is not valid for storage.",
				path[len(path)-1], strings.Join(path, "."))
		}
	}
	return nil
}

// plain is the definition of a collection without options.
var plain = &Definition{}

// Prepared returns a copy of a document that a client sent, as it is stored, and the key of its _id in a collection without a collation.
func Prepared(doc []byte) ([]byte, string, error) {
	id := query.Lookup(doc, "_id")
	switch id.Type {
	case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
		return nil, "", mongoerr.Errorf(mongoerr.InvalidIDField, "The '_id' value cannot be of type %s", query.TypeName(id.Type))
	case 0:
		oid := bson.NewObjectID()
		id = query.Value{Type: bson.TypeObjectID, Data: oid[:]}
	}
	if err := checkIDNames(id); err != nil {
		return nil, "", err
	}
	key := plain.IDKey(id)
	it := wire.Elements(doc)
	if it.Next() && string(it.Key) == "_id" {
		return append(make([]byte, 0, len(doc)), doc...), key, nil
	}
	return query.FrontID(id, doc), key, nil
}
