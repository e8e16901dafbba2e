package situations

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// These documents cannot be encoded.
type (
	panicking struct{}
	failing   struct{}
	lying     struct{}
)

var errMarshaler = errors.New("the marshaler's error")

func (panicking) MarshalBSON() ([]byte, error) { panic("the marshaler's panic") }
func (failing) MarshalBSON() ([]byte, error)   { return nil, errMarshaler }
func (lying) MarshalBSON() ([]byte, error)     { return []byte{5, 0, 0, 0}, nil }

// namedValue is an argument with its name.
type namedValue struct {
	name  string
	value any
}

// oddDocuments are given for each argument of type any.
var oddDocuments = []namedValue{
	{"nil", nil},
	{"a nil pointer", (*bson.D)(nil)},
	{"a nil pointer to a struct", (*struct{ A int })(nil)},
	{"a nil map", bson.M(nil)},
	{"a nil bson.D", bson.D(nil)},
	{"a nil bson.A", bson.A(nil)},
	{"a nil slice", []any(nil)},
	{"a nil raw document", bson.Raw(nil)},
	{"an empty document", bson.D{}},
	{"an empty slice", []any{}},
	{"an empty array", bson.A{}},
	{"an empty raw document", bson.Raw{}},
	{"a raw document cut short", bson.Raw{5, 0, 0, 0}},
	{"a raw document with a wrong length", bson.Raw{99, 0, 0, 0, 0}},
	{"a map with one key", bson.M{"_id": int32(1)}},
	{"a map with keys that are numbers", map[int]int{1: 1}},
	{"a map with keys that are structs", map[struct{ A int }]int{{1}: 1}},
	{"a number", 5},
	{"a text", "text"},
	{"a boolean", true},
	{"a struct", struct{ A int }{1}},
	{"a pointer to a struct", &struct{ A int }{1}},
	{"a pointer to a document", &bson.D{{Key: "_id", Value: int32(1)}}},
	{"a slice with nil", []any{nil}},
	{"a slice of documents", []bson.D{{{Key: "$match", Value: bson.D{}}}}},
	{"a slice of numbers", []int{1}},
	{"a slice of bytes", []byte{5, 0, 0, 0, 0}},
	{"a slice of bytes that is no document", []byte("text")},
	{"an array of documents", [1]bson.D{{}}},
	{"a document with a function", bson.D{{Key: "f", Value: func() {}}}},
	{"a document with a channel", bson.D{{Key: "f", Value: make(chan int)}}},
	{"a document with a complex number", bson.D{{Key: "f", Value: complex(1, 1)}}},
	{"a document with a number over int64", bson.D{{Key: "f", Value: uint64(1) << 63}}},
	{"a document with an empty key", bson.D{{Key: "", Value: 1}}},
	{"a document with NUL in a key", bson.D{{Key: "a\x00b", Value: 1}}},
	{"a document with NUL in a text", bson.D{{Key: "a", Value: "a\x00b"}}},
	{"a document with a key that begins with a dollar", bson.D{{Key: "$x", Value: 1}}},
	{"a document with a dot in a key", bson.D{{Key: "a.b", Value: 1}}},
	{"a document with a key twice", bson.D{{Key: "a", Value: 1}, {Key: "a", Value: 2}}},
	{"a document with _id last", bson.D{{Key: "a", Value: 1}, {Key: "_id", Value: 7}}},
	{"a document with _id nil", bson.D{{Key: "_id", Value: nil}}},
	{"a document with text that is no UTF-8", bson.D{{Key: "a", Value: "\xff"}}},
	{"a marshaler that panics", panicking{}},
	{"a marshaler that fails", failing{}},
	{"a marshaler that returns no document", lying{}},
	{"a document with a marshaler that fails", bson.D{{Key: "a", Value: failing{}}}},
}

// oddNames are given for each argument that is a string.
var oddNames = []namedValue{
	{"an empty text", ""},
	{"a text with NUL", "a\x00b"},
	{"a text with a dot", "a.b"},
	{"a dot", "."},
	{"a text that begins with a dot", ".a"},
	{"a text that ends with a dot", "a."},
	{"a dollar", "$"},
	{"a text with a dollar", "a$b"},
	{"a text that begins with system", "system.x"},
	{"a star", "*"},
	{"a long text", strings.Repeat("a", 300)},
	{"a text that is no UTF-8", "\xff"},
	{"a text with a space", "a b"},
	{"a text with a slash", "a/b"},
}

// argumentSituations give one odd argument to each method.
func argumentSituations() []situation {
	var all []situation
	for _, o := range operations {
		for i, arg := range o.args {
			odd := oddDocuments
			if _, text := arg.(string); text {
				odd = oddNames
			} else if ofOneType(arg) {
				odd = emptyOf(arg)
			}
			for _, v := range odd {
				args := slices.Clone(o.args)
				args[i] = v.value
				all = append(all, situation{
					name: fmt.Sprintf("%s, argument %d: %s", o.name, i+1, v.name),
					do:   func(ctx context.Context, w *world) (any, error) { return o.callWith(ctx, w, args) },
				})
			}
		}
	}
	return append(all, namespaceSituations()...)
}

// ofOneType reports whether the parameter of an argument has a type other than any.
func ofOneType(arg any) bool {
	switch arg.(type) {
	case nil, []mongo.ClientBulkWrite, []mongo.WriteModel, []mongo.IndexModel, mongo.IndexModel, []mongo.SearchIndexModel, mongo.SearchIndexModel,
		*options.SearchIndexesOptionsBuilder, *content, nowhere:
		return true
	}
	return false
}

// emptyOf are the empty values of an argument's type.
func emptyOf(arg any) []namedValue {
	if arg == nil {
		return nil
	}
	t := reflect.TypeOf(arg)
	values := []namedValue{{"the zero value", reflect.Zero(t).Interface()}}
	if t.Kind() == reflect.Slice {
		values = append(values,
			namedValue{"an empty slice", reflect.MakeSlice(t, 0, 0).Interface()},
			namedValue{"a slice with a zero value", reflect.MakeSlice(t, 1, 1).Interface()})
	}
	return values
}

// namespaceSituations have databases and collections with odd names.
func namespaceSituations() []situation {
	var all []situation
	for _, o := range operations {
		if !slices.Contains([]string{
			"Collection.InsertOne", "Collection.FindOne", "Collection.Aggregate", "Collection.UpdateOne", "Collection.Drop", "Collection.Watch",
			"Database.RunCommand", "Database.ListCollections", "IndexView.List", "Collection.CountDocuments", "Collection.BulkWrite",
			"Database.Drop", "Collection.EstimatedDocumentCount", "Collection.Distinct", "IndexView.CreateOne", "Collection.FindOneAndDelete",
		}, o.name) {
			continue
		}
		for _, name := range oddNames {
			text := name.value.(string)
			all = append(all, situation{
				name: fmt.Sprintf("%s, the database's name: %s", o.name, name.name),
				do: func(ctx context.Context, w *world) (any, error) {
					w.db = w.client.Database(text)
					w.coll = w.db.Collection("c")
					return o.call(ctx, w)
				},
			}, situation{
				name: fmt.Sprintf("%s, the collection's name: %s", o.name, name.name),
				do: func(ctx context.Context, w *world) (any, error) {
					w.coll = w.db.Collection(text)
					return o.call(ctx, w)
				},
			})
		}
	}
	return all
}
