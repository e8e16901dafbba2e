package query

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Text returns a string, of one or more parts, as a Value.
func Text[T string | []byte](parts ...T) Value {
	n := 1
	for _, s := range parts {
		n += len(s)
	}
	data := make([]byte, 0, n+4)
	data = binary.LittleEndian.AppendUint32(data, uint32(n))
	for _, s := range parts {
		data = append(data, s...)
	}
	return Value{bson.TypeString, append(data, 0)}
}

// Document returns the bytes of a document as a Value.
func Document(doc []byte) Value { return Value{bson.TypeEmbeddedDocument, doc} }

// Array returns an array of the values, which are all there.
func Array(values []Value) Value {
	at, dst := wire.BeginDocument(nil)
	for i, v := range values {
		dst = wire.AppendValue(dst, wire.ArrayKey(i), v.Type, v.Data)
	}
	return Value{bson.TypeArray, wire.EndDocument(dst, at)}
}

// Field is one field of an Object.
type Field struct {
	Name  string
	Value Value
}

// Object is a document in the making. A field whose value is Missing has only its place in it.
type Object []Field

// ObjectOf returns the fields of a document, of a made one with the places.
func ObjectOf(doc []byte) Object {
	var o Object
	it := wire.Elements(doc)
	for it.Next() {
		if !isMark(&it.Element) || it.Value[0] != madeMark {
			o = append(o, Field{string(it.Key), Of(it.Element)})
		}
	}
	return o
}

func (o Object) index(name string) int {
	for i := range o {
		if o[i].Name == name {
			return i
		}
	}
	return -1
}

// Get returns the value of a field, a Missing one if there is none.
func (o Object) Get(name string) Value {
	if i := o.index(name); i >= 0 {
		return o[i].Value
	}
	return Value{}
}

// Set replaces the value of a field, or adds the field at the end. It may write into o.
func (o Object) Set(name string, v Value) Object {
	if i := o.index(name); i >= 0 {
		o[i].Value = v
		return o
	}
	return append(o, Field{name, v})
}

// Bytes returns the document without the places.
func (o Object) Bytes() []byte {
	at, dst := wire.BeginDocument(nil)
	for _, f := range o {
		if !f.Value.Missing() {
			dst = wire.AppendValue(dst, f.Name, f.Value.Type, f.Value.Data)
		}
	}
	return wire.EndDocument(dst, at)
}

// Document returns the document, without the places, as a Value.
func (o Object) Document() Value { return Document(o.Bytes()) }

// Made returns the document that an expression or a stage makes, with the places.
func (o Object) Made() Value {
	at, dst := BeginMade(nil)
	for _, f := range o {
		dst = AppendField(dst, f.Name, f.Value)
	}
	return Document(wire.EndDocument(dst, at))
}
