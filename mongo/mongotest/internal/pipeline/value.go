package pipeline

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// Value is one BSON value; the zero Value stands for a field that is not there.
type Value = query.Value

var (
	missing = Value{}
	null    = Value{Type: bson.TypeNull}
)

func text(s string) Value {
	data := binary.LittleEndian.AppendUint32(nil, uint32(len(s)+1))
	data = append(data, s...)
	return Value{Type: bson.TypeString, Data: append(data, 0)}
}

func document(doc []byte) Value { return Value{Type: bson.TypeEmbeddedDocument, Data: doc} }

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
		values[i] = document(doc)
	}
	return array(values)
}

// field is one field of a document.
type field struct {
	name  string
	value Value
}

// object is a document in the making.
type object []field

func fieldsOf(doc []byte) object {
	var o object
	query.Fields(doc, func(name []byte, v Value) { o = append(o, field{string(name), v}) })
	return o
}

func (o object) index(name string) int {
	for i := range o {
		if o[i].name == name {
			return i
		}
	}
	return -1
}

func (o object) get(name string) Value {
	if i := o.index(name); i >= 0 {
		return o[i].value
	}
	return missing
}

// set replaces the value of a field, or adds the field at the end.
func (o object) set(name string, v Value) object {
	if i := o.index(name); i >= 0 {
		o[i].value = v
		return o
	}
	return append(o, field{name, v})
}

// bytes returns the document; fields whose value is Missing are left out.
func (o object) bytes() []byte {
	at, data := wire.BeginDocument(nil)
	for _, f := range o {
		if !f.value.Missing() {
			data = wire.AppendValue(data, f.name, f.value.Type, f.value.Data)
		}
	}
	return wire.EndDocument(data, at)
}

func (o object) value() Value { return document(o.bytes()) }

// made returns the bytes of a document that a stage makes, with the places of fields whose value is Missing.
func (o object) made() []byte {
	at, data := query.BeginMade(nil)
	for _, f := range o {
		data = query.AppendField(data, f.name, f.value)
	}
	return wire.EndDocument(data, at)
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
		var o object
		for _, f := range fieldsOf(v.Data) {
			o = o.set(f.name, lastOfEach(f.value))
		}
		return o.value()
	}
	return v
}

// nullish tells whether the value is null, undefined or not there.
func nullish(v Value) bool {
	return v.Missing() || v.Type == bson.TypeNull || v.Type == bson.TypeUndefined
}

func isText(v Value) bool { return v.Type == bson.TypeString }

func isBool(v Value) bool { return v.Type == bson.TypeBoolean }

func typeName(v Value) string { return query.TypeName(v.Type) }

// spelled writes a value as the real server's stages do, which is not how its filters do.
func spelled(v Value) string {
	var parts []string
	switch v.Type {
	case 0:
		return "MISSING"
	case bson.TypeEmbeddedDocument:
		for _, f := range fieldsOf(v.Data) {
			if !f.value.Missing() {
				parts = append(parts, fmt.Sprintf("%s: %s", f.name, spelled(f.value)))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case bson.TypeArray:
		for _, e := range query.Elements(v.Data) {
			parts = append(parts, spelled(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case bson.TypeDouble:
		return strconv.FormatFloat(double(v), 'g', 6, 64)
	case bson.TypeDateTime:
		return time.UnixMilli(long(v)).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return v.String()
}

// written writes a field of a specification as the real server quotes it.
func written(name string, v Value) string {
	if v.IsDocument() && len(query.Elements(v.Data)) == 0 {
		return name + ": {}"
	}
	return name + ": " + v.String()
}

// long returns an int32, int64 or date as an int64.
func long(v Value) int64 {
	if v.Type == bson.TypeInt32 {
		return int64(int32(binary.LittleEndian.Uint32(v.Data)))
	}
	return int64(binary.LittleEndian.Uint64(v.Data))
}

// double returns a number as a double.
func double(v Value) float64 {
	switch v.Type {
	case bson.TypeDouble:
		e := wire.Element{Type: v.Type, Value: v.Data}
		return e.Float64()
	case bson.TypeDecimal128:
		f, _ := strconv.ParseFloat(v.String(), 64)
		return f
	}
	return float64(long(v))
}
