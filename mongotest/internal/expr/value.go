package expr

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/decimal"
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
	yes     = Value{Type: bson.TypeBoolean, Data: []byte{1}}
	no      = Value{Type: bson.TypeBoolean, Data: []byte{0}}
)

func boolean(b bool) Value {
	if b {
		return yes
	}
	return no
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

// truth is how the real server makes a boolean of any value: null and zeroes are false, all else is true.
func truth(v Value) bool {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined:
		return false
	case bson.TypeBoolean, bson.TypeInt32, bson.TypeInt64, bson.TypeDouble:
		return v.True()
	case bson.TypeDecimal128:
		return !decimal.Of(v).IsZero()
	}
	return true
}

// typeName returns the real server's name of the value's type.
func typeName(v Value) string { return query.TypeName(v.Type) }
