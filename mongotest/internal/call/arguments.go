package call

import (
	"cmp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// The checks of this file look at the arguments of a command alone, not at the data.

// CheckIndexChoice refuses a value of another type than a name, names or keys of indexes.
func CheckIndexChoice(v query.Value) error {
	switch {
	case v.IsArray():
		for i, name := range query.Elements(v.Data) {
			switch {
			case name.Type == bson.TypeString:
			case i == 0: // it is the first by which an array is taken for one of names
				return mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field 'dropIndexes.index' is the wrong type 'array', expected types '[string]'")
			default:
				return fields.WrongType("dropIndexes", "index."+wire.ArrayKey(i), name.Type, "string")
			}
		}
	case v.Type != bson.TypeString && !v.IsDocument():
		return mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field 'dropIndexes.index' is the wrong type '%s', expected types '[string, object]'",
			query.TypeName(v.Type))
	}
	return nil
}

// checkComment refuses the comments that older versions do: all commands may have one since 4.4, and a few had it before as a
// string.
func checkComment(v version.Version, command string, comment query.Value) error {
	switch command {
	case "count", "distinct":
		if !v.Has(version.Of(4, 4, 14)) && comment.Type != bson.TypeString {
			return fields.WrongType(command, "comment", comment.Type, "string")
		}
	case "find", "aggregate":
		if !v.AtLeast(4, 4) && comment.Type != bson.TypeString {
			return fields.WrongType(command, "comment", comment.Type, "string")
		}
	default:
		if !v.AtLeast(4, 4) {
			return fields.Unknown(command, "comment")
		}
	}
	return nil
}

// longestDatabase is how many bytes the name of a database may have.
const longestDatabase = 63

// checkDatabase refuses names that no database may have, https://www.mongodb.com/docs/manual/reference/limits/.
func checkDatabase(v version.Version, db string) error {
	if len(db) > longestDatabase && v.AtLeast(7, 0) {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "db name must be at most %d characters, found: %d", longestDatabase, len(db))
	}
	if db == "" || len(db) > longestDatabase || strings.ContainsAny(db, "/\\. \"\x00") {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Invalid database name: '%s'", db)
	}
	return nil
}

// CheckNamespace refuses names that no collection may have.
func CheckNamespace(db, coll string) error {
	if coll != "" && coll[0] == '.' {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Collection names cannot start with '.': %s", coll)
	}
	if db == "" || coll == "" {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Invalid namespace specified: %s", strings.TrimSuffix(db+"."+coll, "."))
	}
	for _, r := range db + coll {
		if r == 0 || r == '$' {
			return mongoerr.Errorf(mongoerr.InvalidNamespace, "Invalid collection name: %s", coll)
		}
	}
	return nil
}

// longestNamespace is how many bytes the names of a database and a collection, and the dot between them, may have.
const longestNamespace = 255

// CheckLength refuses a namespace that is too long to be written to. Reads find nothing there.
func CheckLength(db, coll string) error {
	if len(db)+1+len(coll) > longestNamespace {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Fully qualified namespace is too long. Namespace: %s.%s Max: %d", db, coll, longestNamespace)
	}
	return nil
}

// CheckTarget refuses the namespace that a pipeline is to write to.
func CheckTarget(db, coll string) error {
	return cmp.Or(CheckNamespace(db, coll), CheckLength(db, coll))
}

// CheckIDIndex refuses an index of _id that is another than the one that every collection has.
func CheckIDIndex(doc []byte) error {
	key, name, v := query.Lookup(doc, "key"), query.Lookup(doc, "name"), query.Lookup(doc, "v")
	switch {
	case !key.Missing() && !key.IsDocument():
		return mongoerr.Errorf(mongoerr.TypeMismatch, "The field 'key' must be an object, but got %s", query.TypeName(key.Type))
	case !name.Missing() && !name.IsString():
		return mongoerr.Errorf(mongoerr.TypeMismatch, "The field 'name' must be a string, but got %s", query.TypeName(name.Type))
	case !v.Missing() && !v.IsNumber():
		return mongoerr.Errorf(mongoerr.TypeMismatch, "The field 'v' must be a number, but got %s", query.TypeName(v.Type))
	case key.Missing():
		return mongoerr.Errorf(mongoerr.FailedToParse, "The 'key' field is a required property of an index specification")
	case name.Missing():
		return mongoerr.Errorf(mongoerr.FailedToParse, "The 'name' field is a required property of an index specification")
	case !store.IsIDPattern(key.Data):
		return mongoerr.Errorf(mongoerr.BadValue, "The 'key' field for an _id index must be {_id: 1}, but got %s", key)
	}
	return nil
}

// CheckIDCollation refuses a collation of the index of _id that is not the collection's.
func CheckIDCollation(doc []byte, of *collation.Collation) error {
	v := query.Lookup(doc, "collation")
	switch {
	case v.Missing():
		return nil
	case !v.IsDocument():
		return mongoerr.Errorf(mongoerr.TypeMismatch, "The field 'collation' must be an object, but got %s", query.TypeName(v.Type))
	case len(v.Data) == len(query.EmptyDocument):
		return mongoerr.Errorf(mongoerr.BadValue, "The field 'collation' cannot be an empty object.")
	}
	own, err := collation.Parse(v.Data)
	if err == nil && !collation.Same(own, of) {
		err = mongoerr.Errorf(mongoerr.BadValue, "'idIndex' must have the same collation as the collection.")
	}
	return err
}

// Has reports whether a document has a field.
func Has(doc []byte, name string) bool { return !query.Lookup(doc, name).Missing() }
