package pipeline

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Value is one BSON value; the zero Value stands for a field that is not there.
type Value = query.Value

type (
	object = query.Object
	field  = query.Field
)

var (
	missing = Value{}
	null    = Value{Type: bson.TypeNull}
)

// array returns an array of the values, without the Missing ones.
func array(values []Value) Value {
	at, data := wire.BeginDocument(nil)
	n := 0
	for _, v := range values {
		if !v.Missing() {
			data = wire.AppendValue(data, wire.ArrayKey(n), v.Type, v.Data)
			n++
		}
	}
	return Value{Type: bson.TypeArray, Data: wire.EndDocument(data, at)}
}

// documents returns an array of documents.
func documents(docs [][]byte) Value {
	values := make([]Value, len(docs))
	for i, doc := range docs {
		values[i] = query.Document(doc)
	}
	return array(values)
}

// lastOfEach returns a specification in which each name is written once: with its last value, in its first place. That is
// how the real server reads them.
func lastOfEach(v Value) Value {
	switch v.Type {
	case bson.TypeArray:
		elements := query.Elements(v.Data)
		for i := range elements {
			elements[i] = lastOfEach(elements[i])
		}
		return array(elements)
	case bson.TypeEmbeddedDocument:
		var b query.Builder
		for _, f := range query.ObjectOf(v.Data) {
			b.Set(f.Name, lastOfEach(f.Value))
		}
		return b.Document()
	}
	return v
}

func isBool(v Value) bool { return v.Type == bson.TypeBoolean }

func typeName(v Value) string { return query.TypeName(v.Type) }

// spelled writes a value as the real server's stages do, which is not how its filters do.
func spelled(v Value) string {
	var parts []string
	switch v.Type {
	case 0:
		return "MISSING"
	case bson.TypeEmbeddedDocument:
		for _, f := range query.ObjectOf(v.Data) {
			if !f.Value.Missing() {
				parts = append(parts, fmt.Sprintf("%s: %s", f.Name, spelled(f.Value)))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case bson.TypeArray:
		for _, e := range query.Elements(v.Data) {
			parts = append(parts, spelled(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case bson.TypeDouble:
		return strconv.FormatFloat(v.AsFloat64(), 'g', 6, 64)
	case bson.TypeDateTime:
		return time.UnixMilli(v.AsInt64()).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return v.Whole()
}

// written writes a field of a specification as the real server quotes it.
func written(name string, v Value) string {
	if v.IsDocument() && query.Count(v.Data) == 0 {
		return name + ": {}"
	}
	return name + ": " + v.String()
}
