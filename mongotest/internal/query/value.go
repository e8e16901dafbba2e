package query

import (
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Value is one BSON value: its type and its bytes. The zero Value stands for a field that is not there.
type Value struct {
	Type bson.Type
	Data []byte
}

// Missing reports whether the value stands for a field that is not there.
func (v Value) Missing() bool { return v.Type == 0 }

// Of returns an element's value, a Missing one if there is only its place.
func Of(e wire.Element) Value {
	if isMark(&e) {
		return Value{}
	}
	return Value{Type: e.Type, Data: e.Value}
}

// Lookup returns the value of a top-level field of doc, the zero Value if it has none.
func Lookup(doc []byte, key string) Value {
	it := wire.Elements(doc)
	for it.Next() {
		if string(it.Key) == key {
			return Of(it.Element)
		}
	}
	return Value{}
}

// Int32 returns a 32-bit integer as a Value.
func Int32(n int32) Value {
	return Value{bson.TypeInt32, binary.LittleEndian.AppendUint32(nil, uint32(n))}
}

// Int64 returns a 64-bit integer as a Value.
func Int64(n int64) Value {
	return Value{bson.TypeInt64, binary.LittleEndian.AppendUint64(nil, uint64(n))}
}

// Double returns a double as a Value.
func Double(f float64) Value {
	return Value{bson.TypeDouble, binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))}
}

func (v Value) element() wire.Element { return wire.Element{Type: v.Type, Value: v.Data} }

// True reports whether the value is true or a number other than zero.
func (v Value) True() bool {
	e := v.element()
	return e.True()
}

// Text returns the bytes of a string, nil if the value is none.
func (v Value) Text() []byte {
	e := v.element()
	return e.Text()
}

// IsNullish reports whether the value is null, undefined or not there.
func (v Value) IsNullish() bool {
	return v.Missing() || v.Type == bson.TypeNull || v.Type == bson.TypeUndefined
}

// IsString reports whether the value is a string.
func (v Value) IsString() bool { return v.Type == bson.TypeString }

// IsDocument reports whether the value is an embedded document.
func (v Value) IsDocument() bool { return v.Type == bson.TypeEmbeddedDocument }

// IsArray reports whether the value is an array.
func (v Value) IsArray() bool { return v.Type == bson.TypeArray }

func (v Value) elements() []Value { return Elements(v.Data) }

// Count returns how many fields a document, or elements an array has.
func Count(doc []byte) int {
	n := 0
	for it := wire.Elements(doc); nextField(&it); {
		n++
	}
	return n
}

// Elements returns the values of an array or document in their order.
func Elements(doc []byte) []Value {
	var values []Value
	if n := Count(doc); n > 0 {
		values = make([]Value, 0, n)
	}
	it := wire.Elements(doc)
	for nextField(&it) {
		values = append(values, Of(it.Element))
	}
	return values
}
