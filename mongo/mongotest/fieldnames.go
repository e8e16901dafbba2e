package mongotest

import (
	"bytes"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/dot-dollar-considerations/

// dollarPath returns the path of the first name in a document, at any depth, that begins with a dollar and is no DBRef's.
func dollarPath(doc []byte) []string {
	it := wire.Elements(doc)
	for it.Next() {
		if name := string(it.Key); strings.HasPrefix(name, "$") && !slices.Contains([]string{"$ref", "$id", "$db"}, name) {
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

// checkInsertedNames refuses a document whose fields begin with a dollar, as servers did before 5.0.
func (v version) checkInsertedNames(doc []byte) error {
	if v.atLeast(5, 0) {
		return nil
	}
	it := wire.Elements(doc)
	for it.Next() {
		if len(it.Key) > 0 && it.Key[0] == '$' {
			return mongoerr.Errorf(mongoerr.BadValue, "Document can't have $ prefixed field names: %s", it.Key)
		}
	}
	return nil
}

// checkUpdatedNames refuses what an update put into a document whose names begin with a dollar, as servers did before 5.0.
func (v version) checkUpdatedNames(before, after []byte) error {
	if v.atLeast(5, 0) {
		return nil
	}
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
