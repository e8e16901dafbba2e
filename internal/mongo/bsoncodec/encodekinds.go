package bsoncodec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The put functions write a value of which the head of the element is already there.

func (p place) put32(dst []byte, t bson.Type, n uint32) []byte {
	dst[p.typeAt] = byte(t)
	return binary.LittleEndian.AppendUint32(dst, n)
}

func (p place) put64(dst []byte, t bson.Type, n uint64) []byte {
	dst[p.typeAt] = byte(t)
	return binary.LittleEndian.AppendUint64(dst, n)
}

func (p place) putNull(dst []byte) []byte {
	dst[p.typeAt] = byte(bson.TypeNull)
	return dst
}

func (p place) putString(dst []byte, s string) []byte {
	dst = p.put32(dst, bson.TypeString, uint32(len(s)+1))
	dst = append(dst, s...)
	return append(dst, 0)
}

func (p place) putBool(dst []byte, b bool) []byte {
	dst[p.typeAt] = byte(bson.TypeBoolean)
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func (p place) putInt32(dst []byte, n int32) []byte { return p.put32(dst, bson.TypeInt32, uint32(n)) }

// putInt writes an integer of 32 bits if small is true and it fits, else of 64 bits.
func (p place) putInt(dst []byte, n int64, small bool) []byte {
	if small && n >= math.MinInt32 && n <= math.MaxInt32 {
		return p.putInt32(dst, int32(n))
	}
	return p.put64(dst, bson.TypeInt64, uint64(n))
}

func (p place) putDouble(dst []byte, f float64) []byte {
	return p.put64(dst, bson.TypeDouble, math.Float64bits(f))
}

func (p place) putTime(dst []byte, t time.Time) []byte {
	return p.put64(dst, bson.TypeDateTime, uint64(bson.NewDateTimeFromTime(t)))
}

func (p place) putObjectID(dst []byte, id bson.ObjectID) []byte {
	dst[p.typeAt] = byte(bson.TypeObjectID)
	return append(dst, id[:]...)
}

// putBytes writes a value whose bytes are made.
func (p place) putBytes(dst []byte, t bson.Type, data []byte) []byte {
	dst[p.typeAt] = byte(t)
	return append(dst, data...)
}

// putBinary writes bytes as a binary of subtype 0. Nil is null.
func (p place) putBinary(dst, data []byte) []byte {
	if data == nil {
		return p.putNull(dst)
	}
	dst = p.put32(dst, bson.TypeBinary, uint32(len(data)))
	dst = append(dst, bson.TypeBinaryGeneric)
	return append(dst, data...)
}

// encodeKind returns the encoder of a kind that is no composite.
func encodeKind(k reflect.Kind) encodeFunc {
	switch k {
	case reflect.String:
		return func(dst []byte, p place, v reflect.Value) ([]byte, error) { return p.putString(dst, v.String()), nil }
	case reflect.Bool:
		return func(dst []byte, p place, v reflect.Value) ([]byte, error) { return p.putBool(dst, v.Bool()), nil }
	case reflect.Int8, reflect.Int16, reflect.Int32:
		return func(dst []byte, p place, v reflect.Value) ([]byte, error) {
			return p.putInt32(dst, int32(v.Int())), nil
		}
	case reflect.Int:
		return func(dst []byte, p place, v reflect.Value) ([]byte, error) { return p.putInt(dst, v.Int(), true), nil }
	case reflect.Int64:
		return func(dst []byte, p place, v reflect.Value) ([]byte, error) {
			return p.putInt(dst, v.Int(), p.minSize), nil
		}
	case reflect.Uint8, reflect.Uint16:
		return func(dst []byte, p place, v reflect.Value) ([]byte, error) {
			return p.putInt32(dst, int32(v.Uint())), nil
		}
	case reflect.Uint, reflect.Uint32, reflect.Uint64:
		return encodeUint
	case reflect.Float32, reflect.Float64:
		return func(dst []byte, p place, v reflect.Value) ([]byte, error) { return p.putDouble(dst, v.Float()), nil }
	case reflect.Interface:
		return encodeInterface
	default:
		return encodeGeneral
	}
}

func encodeUint(dst []byte, p place, v reflect.Value) ([]byte, error) {
	if v.Uint() > math.MaxInt64 {
		return encodeGeneral(dst, p, v)
	}
	return p.putInt(dst, int64(v.Uint()), p.minSize), nil
}

func encodeInterface(dst []byte, p place, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return p.putNull(dst), nil
	}
	v = v.Elem()
	return encoderOf(v.Type()).element(dst, p, v)
}

func encodePointer(elem *typeEncoder) encodeFunc {
	return func(dst []byte, p place, v reflect.Value) ([]byte, error) {
		if v.IsNil() {
			return p.putNull(dst), nil
		}
		if p.depth++; p.depth > maxDepth { // a pointer can point to itself
			return nil, errTooDeep
		}
		return elem.element(dst, p, v.Elem())
	}
}

// encodeGeneral encodes by the general encoder, as the only element of a document.
func encodeGeneral(dst []byte, p place, v reflect.Value) ([]byte, error) {
	encode := appendGeneral
	if p.minSize {
		encode = appendMinSize
	}
	if v.CanAddr() && !unknownKind(v.Type()) {
		v = v.Addr() // methods of pointers are called only if there is a pointer
	}
	doc, err := encode(nil, bson.D{{Value: v.Interface()}})
	if err != nil {
		return nil, err
	}
	return p.putBytes(dst, bson.Type(doc[4]), doc[6:len(doc)-1]), nil
}

// encodeAs returns the encoder of exactly one type.
func encodeAs[T any](put func(p place, dst []byte, v T) []byte) encodeFunc {
	return func(dst []byte, p place, v reflect.Value) ([]byte, error) {
		return put(p, dst, as[T](v)), nil
	}
}

// as returns v, which is a T. It allocates nothing if v has an address.
func as[T any](v reflect.Value) T {
	if v.CanAddr() {
		return *v.Addr().Interface().(*T)
	}
	return v.Interface().(T)
}

// bsonEncoders has the encoders of the types that the default registry knows by name.
var bsonEncoders = map[reflect.Type]encodeFunc{
	reflect.TypeFor[bson.ObjectID](): encodeAs(place.putObjectID),
	reflect.TypeFor[bson.DateTime](): encodeAs(func(p place, dst []byte, t bson.DateTime) []byte {
		return p.put64(dst, bson.TypeDateTime, uint64(t))
	}),
	reflect.TypeFor[time.Time](): encodeAs(place.putTime),
	reflect.TypeFor[bson.Decimal128](): encodeAs(func(p place, dst []byte, d bson.Decimal128) []byte {
		high, low := d.GetBytes()
		return binary.LittleEndian.AppendUint64(p.put64(dst, bson.TypeDecimal128, low), high)
	}),
	reflect.TypeFor[bson.Timestamp](): encodeAs(func(p place, dst []byte, t bson.Timestamp) []byte {
		return binary.LittleEndian.AppendUint32(p.put32(dst, bson.TypeTimestamp, t.I), t.T)
	}),
	reflect.TypeFor[[]byte]():        encodeAs(place.putBinary),
	reflect.TypeFor[bson.Binary]():   encodeBinary,
	reflect.TypeFor[bson.Raw]():      encodeRaw,
	reflect.TypeFor[bson.RawValue](): encodeRawValue,
}

func encodeBinary(dst []byte, p place, v reflect.Value) ([]byte, error) {
	b := as[bson.Binary](v)
	if b.Subtype != bson.TypeBinaryGeneric || b.Data == nil {
		return encodeGeneral(dst, p, v)
	}
	return p.putBinary(dst, b.Data), nil
}

func encodeRaw(dst []byte, p place, v reflect.Value) ([]byte, error) {
	doc := as[bson.Raw](v)
	if check(doc) != wellFormed {
		return encodeGeneral(dst, p, v)
	}
	return p.putBytes(dst, bson.TypeEmbeddedDocument, doc), nil
}

func encodeRawValue(dst []byte, p place, v reflect.Value) ([]byte, error) {
	raw := as[bson.RawValue](v)
	if !raw.Type.IsValid() {
		return encodeGeneral(dst, p, v)
	}
	if err := checkValue(raw.Type, raw.Value); err != nil {
		return nil, fmt.Errorf("bson.RawValue: %w", err)
	}
	return p.putBytes(dst, raw.Type, raw.Value), nil
}

var errZeroInKey = errors.New("BSON element key cannot contain null bytes")
