package bsoncodec

import (
	"errors"
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Decode decodes a document into target, with the same result as [bson.Unmarshal].
func Decode(doc []byte, target any) error { return decode(nil, doc, target) }

// A Decoder decodes documents with common keys, such as those of one collection, in fewer allocations than [Decode].
// Its zero value is ready for use. It is not safe for concurrent use.
type Decoder struct{ mem memory }

// Decode decodes a document into target, with the same result as [bson.Unmarshal].
func (d *Decoder) Decode(doc []byte, target any) error { return decode(&d.mem, doc, target) }

func decode(mem *memory, doc []byte, target any) error {
	switch check(doc) {
	case wellFormed:
	case malformed:
		if len(doc) > maxMalformed {
			return fmt.Errorf("%w: it has %d bytes", errMalformed, len(doc))
		}
		return bson.Unmarshal(doc, target)
	case tooDeep:
		return errTooDeep
	}
	v := reflect.ValueOf(target)
	if _, own := target.(bson.Unmarshaler); own || v.Kind() != reflect.Pointer || v.IsNil() {
		return bson.Unmarshal(doc, target)
	}
	d := decoderOf(v.Type().Elem())
	if !d.documents {
		return bson.Unmarshal(doc, target)
	}
	mem.begin()
	if err := d.decode(mem, value{bson.TypeEmbeddedDocument, doc}, v.Elem()); err != nil {
		return explain(err, doc, v.Type().Elem())
	}
	return nil
}

// explain returns the general decoder's error, because only the general decoder can name the path to the value. It gets
// another target: it must not call the methods of the first one again. If the error came from the values that the first
// target had, explain returns err.
func explain(err error, doc []byte, t reflect.Type) (explained error) {
	defer func() {
		if recover() != nil { // the general decoder panics for an array of empty interfaces
			explained = err
		}
	}()
	if general := bson.Unmarshal(doc, reflect.New(t).Interface()); general != nil {
		return general
	}
	return err
}

// DecodeValue decodes a value with the same result as [bson.UnmarshalValue] into a variable of type any.
func DecodeValue(t bson.Type, data []byte) (any, error) {
	if int(fixedSizes[t]) == len(data) {
		return value{t, data}.any(nil)
	}
	return generalValue(t, data)
}

func generalValue(t bson.Type, data []byte) (any, error) {
	var v any
	err := bson.UnmarshalValue(t, data, &v)
	return v, err
}

// errMismatch is the error of a value that does not fit its target: see explain.
var errMismatch = errors.New("the value does not fit its target")

// decodeFunc decodes a value into target, which is addressable.
type decodeFunc func(mem *memory, v value, target reflect.Value) error

// typeDecoder decodes values into one Go type.
type typeDecoder struct {
	decode    decodeFunc
	documents bool // it also decodes top-level documents as the general decoder does
}

var decoders cache[typeDecoder, decoderMaker]

func decoderOf(t reflect.Type) *typeDecoder { return decoders.of(t, decoderMaker.choose) }

// decoderMaker has the decoders that were made but not published.
type decoderMaker map[reflect.Type]*typeDecoder

func (m decoderMaker) decoder(t reflect.Type) *typeDecoder {
	return decoders.within(m, t, decoderMaker.choose)
}

// choose makes the decoder of a type. Its order is that of [bson.Registry]: a registered type, an interface that the
// type implements, the kind.
func (m decoderMaker) choose(t reflect.Type) typeDecoder {
	if d, ok := bsonTypes[t]; ok {
		return d
	}
	if generalTypes[t] {
		return typeDecoder{decode: decodeGeneral}
	}
	if decode := decodeHook(t); decode != nil {
		return typeDecoder{decode: decode}
	}
	switch t.Kind() {
	case reflect.Struct:
		return m.ofStruct(t)
	case reflect.Map:
		return m.ofMap(t)
	case reflect.Pointer:
		return typeDecoder{decode: decodePointer(t, m.decoder(t.Elem()))}
	case reflect.Slice:
		return typeDecoder{decode: m.ofSlice(t)}
	case reflect.Array:
		return typeDecoder{decode: m.ofArray(t)}
	default:
		return typeDecoder{decode: decodeKind(t.Kind(), false)}
	}
}

// decodeGeneral decodes by the general decoder.
func decodeGeneral(_ *memory, v value, target reflect.Value) error {
	return bson.UnmarshalValue(v.typ, v.data, target.Addr().Interface())
}

func decodePointer(t reflect.Type, elem *typeDecoder) decodeFunc {
	elemType := t.Elem()
	return func(mem *memory, v value, target reflect.Value) error {
		if v.isNull() {
			target.SetZero()
			return nil
		}
		if target.IsNil() {
			target.Set(reflect.New(elemType))
		}
		return elem.decode(mem, v, target.Elem())
	}
}
