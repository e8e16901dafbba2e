package bsoncodec

import (
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Append appends v as a document to dst, with the same result as [bson.Marshal]. After an error the contents of dst
// beyond its length are undefined.
func Append(dst []byte, v any) ([]byte, error) {
	switch d := v.(type) {
	case bson.D:
		if d != nil {
			return place{}.appendD(dst, d)
		}
	case bson.M:
		return place{}.appendM(dst, d)
	case nil, bson.Marshaler:
	default:
		rv := reflect.ValueOf(v)
		if rv.Kind() == reflect.Pointer && !rv.IsNil() && encoderOf(rv.Type()).plainPointer {
			rv = rv.Elem()
		}
		if e := encoderOf(rv.Type()); e.document != nil && !isNilSlice(rv) {
			return e.document(dst, place{}, rv)
		}
	}
	return appendGeneral(dst, v)
}

// AppendElement appends an element of a slice as a document to dst. The result is that of [Append] with v.Interface(), but
// most structs are not copied. v must be valid.
func AppendElement(dst []byte, v reflect.Value) ([]byte, error) {
	if v.Kind() == reflect.Struct {
		if e := encoderOf(v.Type()); e.document != nil && e.addressless {
			return e.document(dst, place{}, v)
		}
	}
	return Append(dst, v.Interface())
}

// place is where an encoder writes a value: the type and the key of the element are already there.
type place struct {
	typeAt  int // where the type of the element is, which the encoder sets
	depth   int
	minSize bool
}

// begin writes the head of an element. The value's encoder sets the type.
func begin(dst []byte, key string, outer place) (place, []byte) {
	p := place{typeAt: len(dst), depth: outer.depth, minSize: outer.minSize}
	dst = append(dst, 0)
	dst = append(dst, key...)
	return p, append(dst, 0)
}

// encodeFunc appends a value to dst.
type encodeFunc func(dst []byte, p place, v reflect.Value) ([]byte, error)

// typeEncoder encodes values of one Go type.
type typeEncoder struct {
	element  encodeFunc // a value in a document or an array
	document encodeFunc // a document without the head of an element; nil if the general encoder must do it
	// plainPointer means a pointer type that is encoded as the type that it points to.
	plainPointer bool
	// addressless means that a value with an address is encoded as one without: no method of a pointer is called.
	addressless bool
}

func isNilSlice(v reflect.Value) bool { return v.Kind() == reflect.Slice && v.IsNil() }

var encoders cache[typeEncoder, encoderMaker]

func encoderOf(t reflect.Type) *typeEncoder { return encoders.of(t, encoderMaker.choose) }

// encoderMaker has the encoders that were made but not published.
type encoderMaker map[reflect.Type]*typeEncoder

func (m encoderMaker) encoder(t reflect.Type) *typeEncoder {
	return encoders.within(m, t, encoderMaker.choose)
}

// choose makes the encoder of a type. Its order is that of [bson.Registry]: a registered type, an interface that the
// type implements, the kind.
func (m encoderMaker) choose(t reflect.Type) typeEncoder {
	if element, ok := bsonEncoders[t]; ok {
		return typeEncoder{element: element, addressless: true}
	}
	if generalTypes[t] {
		return typeEncoder{element: encodeGeneral}
	}
	if hook := m.hook(t); hook != nil {
		return typeEncoder{element: hook}
	}
	return m.ofKind(t)
}

func (m encoderMaker) ofKind(t reflect.Type) typeEncoder {
	switch t.Kind() {
	case reflect.Struct:
		return m.ofStruct(t)
	case reflect.Map:
		return m.ofMap(t)
	case reflect.Pointer:
		return typeEncoder{element: encodePointer(m.encoder(t.Elem())), plainPointer: true, addressless: true}
	case reflect.Slice:
		return m.ofSlice(t)
	case reflect.Array:
		return m.ofArray(t)
	default:
		return typeEncoder{element: encodeKind(t.Kind()), addressless: !unknownKind(t)}
	}
}
