package bsoncodec

import (
	"encoding/binary"
	"math"
	"reflect"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// decodeKind returns the decoder of a kind that is no composite. truncate permits numbers to lose their fraction.
func decodeKind(k reflect.Kind, truncate bool) decodeFunc {
	switch k {
	case reflect.String:
		return decodeString
	case reflect.Bool:
		return decodeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(_ *memory, v value, target reflect.Value) error { return decodeInt(v, target, truncate) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(_ *memory, v value, target reflect.Value) error { return decodeUint(v, target, truncate) }
	case reflect.Float32, reflect.Float64:
		return func(_ *memory, v value, target reflect.Value) error { return decodeFloat(v, target, truncate) }
	default:
		return decodeGeneral
	}
}

func decodeString(_ *memory, v value, target reflect.Value) error {
	if !v.isText() {
		return decodeGeneral(nil, v, target)
	}
	target.SetString(string(v.text()))
	return nil
}

func decodeBool(_ *memory, v value, target reflect.Value) error {
	if v.typ != bson.TypeBoolean || v.data[0] > 1 {
		return decodeGeneral(nil, v, target)
	}
	target.SetBool(v.data[0] == 1)
	return nil
}

func decodeInt(v value, target reflect.Value, truncate bool) error {
	n, ok := v.integer(truncate)
	overflows := target.OverflowInt(n)
	if target.Kind() == reflect.Int {
		overflows = n > math.MaxInt // where an int has 32 bits, the general decoder does not look at the lower bound
	}
	if !ok || overflows {
		return errMismatch
	}
	target.SetInt(n)
	return nil
}

func decodeUint(v value, target reflect.Value, truncate bool) error {
	n, ok := v.integer(truncate)
	if !ok || n < 0 || target.OverflowUint(uint64(n)) {
		return errMismatch
	}
	target.SetUint(uint64(n))
	return nil
}

// integer returns the value as an integer. It reports false if the value is not a number, a boolean or null, or if a
// double is too large or has a fraction that may not be lost.
func (v value) integer(truncate bool) (int64, bool) {
	switch v.typ {
	case bson.TypeInt32:
		return int64(v.int32()), true
	case bson.TypeInt64:
		return v.int64(), true
	case bson.TypeDouble:
		f := v.double()
		return int64(f), (truncate || math.Floor(f) == f) && !(f > math.MaxInt64)
	case bson.TypeBoolean:
		return int64(v.data[0]), v.data[0] <= 1
	case bson.TypeNull, bson.TypeUndefined:
		return 0, true
	default:
		return 0, false
	}
}

func decodeFloat(v value, target reflect.Value, truncate bool) error {
	var f float64
	if v.typ == bson.TypeDouble {
		f = v.double()
	} else {
		n, ok := v.integer(false)
		if !ok {
			return errMismatch
		}
		f = float64(n)
	}
	if target.Kind() == reflect.Float32 && !truncate && float64(float32(f)) != f {
		return errMismatch
	}
	target.SetFloat(f)
	return nil
}

func (v value) double() float64 { return math.Float64frombits(binary.LittleEndian.Uint64(v.data)) }

// decodeAs returns a decoder that reads values of one BSON type, and leaves the others to the general decoder.
func decodeAs[T any](t bson.Type, read func(v value) T) typeDecoder {
	return typeDecoder{decode: func(_ *memory, v value, target reflect.Value) error {
		if v.typ != t {
			return decodeGeneral(nil, v, target)
		}
		*target.Addr().Interface().(*T) = read(v)
		return nil
	}}
}

// bsonTypes has the decoders of the types that the default registry knows by name.
var bsonTypes map[reflect.Type]typeDecoder

func init() { // some of the decoders need the table themselves
	bsonTypes = map[reflect.Type]typeDecoder{
		reflect.TypeFor[bson.ObjectID]():   decodeAs(bson.TypeObjectID, value.objectID),
		reflect.TypeFor[bson.DateTime]():   decodeAs(bson.TypeDateTime, func(v value) bson.DateTime { return bson.DateTime(v.int64()) }),
		reflect.TypeFor[time.Time]():       decodeAs(bson.TypeDateTime, func(v value) time.Time { return time.UnixMilli(v.int64()).UTC() }),
		reflect.TypeFor[bson.Decimal128](): decodeAs(bson.TypeDecimal128, value.decimal),
		reflect.TypeFor[bson.Timestamp]():  decodeAs(bson.TypeTimestamp, value.timestamp),
		reflect.TypeFor[bson.Binary]():     decodeAs(bson.TypeBinary, value.asBinary),
		reflect.TypeFor[[]byte]():          {decode: decodeBytes},
		reflect.TypeFor[bson.RawValue]():   {decode: decodeRawValue},
		reflect.TypeFor[bson.Raw]():        {decode: decodeRaw, documents: true},
		reflect.TypeFor[bson.D]():          {decode: decodeD, documents: true},
		reflect.TypeFor[any]():             {decode: decodeAny, documents: true},
	}
}

func (v value) objectID() bson.ObjectID { return bson.ObjectID(v.data) }

func (v value) decimal() bson.Decimal128 {
	return bson.NewDecimal128(binary.LittleEndian.Uint64(v.data[8:]), binary.LittleEndian.Uint64(v.data))
}

func (v value) timestamp() bson.Timestamp {
	return bson.Timestamp{T: binary.LittleEndian.Uint32(v.data[4:]), I: binary.LittleEndian.Uint32(v.data)}
}

func (v value) asBinary() bson.Binary {
	subtype, data := v.binary()
	return bson.Binary{Subtype: subtype, Data: data}
}

func decodeBytes(_ *memory, v value, target reflect.Value) error {
	if v.typ != bson.TypeBinary || v.data[4] != bson.TypeBinaryGeneric {
		return decodeGeneral(nil, v, target)
	}
	_, data := v.binary()
	target.SetBytes(data)
	return nil
}

func decodeRawValue(_ *memory, v value, target reflect.Value) error {
	*target.Addr().Interface().(*bson.RawValue) = bson.RawValue{Type: v.typ, Value: v.copied()}
	return nil
}

func decodeRaw(_ *memory, v value, target reflect.Value) error {
	if v.typ != bson.TypeEmbeddedDocument && v.typ != bson.TypeArray {
		return decodeGeneral(nil, v, target)
	}
	raw := target.Addr().Interface().(*bson.Raw)
	*raw = append((*raw)[:0], v.data...)
	return nil
}
