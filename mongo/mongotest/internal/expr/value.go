package expr

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// Value is one BSON value; the zero Value stands for a field that is not there.
type Value = query.Value

var (
	missing = Value{}
	null    = Value{Type: bson.TypeNull}
	yes     = Value{Type: bson.TypeBoolean, Data: []byte{1}}
	no      = Value{Type: bson.TypeBoolean, Data: []byte{0}}
)

func boolean(b bool) Value {
	if b {
		return yes
	}
	return no
}

func text[T string | []byte](s T) Value {
	data := make([]byte, 0, len(s)+5)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(s)+1))
	data = append(data, s...)
	return Value{Type: bson.TypeString, Data: append(data, 0)}
}

func date(ms int64) Value {
	return Value{Type: bson.TypeDateTime, Data: binary.LittleEndian.AppendUint64(nil, uint64(ms))}
}

func objectID(id bson.ObjectID) Value { return Value{Type: bson.TypeObjectID, Data: id[:]} }

func binaryValue(subtype byte, data []byte) Value {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(data)))
	return Value{Type: bson.TypeBinary, Data: append(append(b, subtype), data...)}
}

// array returns an array of the values; a Missing one becomes null, as in the real server.
func array(values []Value) Value {
	at, data := wire.BeginDocument(nil)
	for i, v := range values {
		if v.Missing() {
			v = null
		}
		data = wire.AppendValue(data, wire.ArrayKey(i), v.Type, v.Data)
	}
	return Value{Type: bson.TypeArray, Data: wire.EndDocument(data, at)}
}

// field is one field of a document.
type field struct {
	name  string
	value Value
}

// object is a document in the making.
type object []field

// fieldsOf returns the fields of a document.
func fieldsOf(doc []byte) object {
	var o object
	query.Fields(doc, func(name []byte, v Value) { o = append(o, field{string(name), v}) })
	return o
}

// set replaces the value of a field, or adds the field at the end.
func (o object) set(name string, v Value) object {
	for i := range o {
		if o[i].name == name {
			o[i].value = v
			return o
		}
	}
	return append(o, field{name, v})
}

// value returns the document, with the places of fields whose value is Missing.
func (o object) value() Value {
	at, data := query.BeginMade(nil)
	for _, f := range o {
		data = query.AppendField(data, f.name, f.value)
	}
	return Value{Type: bson.TypeEmbeddedDocument, Data: wire.EndDocument(data, at)}
}

// nullish tells whether the value is null, undefined or not there.
func nullish(v Value) bool {
	return v.Missing() || v.Type == bson.TypeNull || v.Type == bson.TypeUndefined
}

// truth is how the real server makes a boolean of any value: null and zeroes are false, all else is true.
func truth(v Value) bool {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined:
		return false
	case bson.TypeBoolean, bson.TypeInt32, bson.TypeInt64, bson.TypeDouble:
		return v.True()
	case bson.TypeDecimal128:
		return !decimalOf(v).isZero()
	}
	return true
}

// typeName returns the real server's name of the value's type.
func typeName(v Value) string { return query.TypeName(v.Type) }

func isText(v Value) bool { return v.Type == bson.TypeString }
