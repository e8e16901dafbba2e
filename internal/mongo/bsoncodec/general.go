package bsoncodec

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// generalTypes are the types that the default registry knows by name and that this package leaves to it.
var generalTypes = map[reflect.Type]bool{
	reflect.TypeFor[bson.Vector]():        true,
	reflect.TypeFor[bson.Undefined]():     true,
	reflect.TypeFor[bson.Null]():          true,
	reflect.TypeFor[bson.Regex]():         true,
	reflect.TypeFor[bson.DBPointer]():     true,
	reflect.TypeFor[bson.MinKey]():        true,
	reflect.TypeFor[bson.MaxKey]():        true,
	reflect.TypeFor[bson.JavaScript]():    true,
	reflect.TypeFor[bson.Symbol]():        true,
	reflect.TypeFor[bson.CodeWithScope](): true,
	reflect.TypeFor[json.Number]():        true,
	reflect.TypeFor[url.URL]():            true,
}

// unknownKind reports whether a type has no encoder and no decoder in the default registry, unless it has methods of its
// own. A slice or a map of such a type is refused even if it is empty.
func unknownKind(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.Uintptr, reflect.UnsafePointer:
		return true
	default:
		return false
	}
}

// generalEncoder is the general encoder with a buffer for its output. The encoder has buffers of its own.
type generalEncoder struct {
	out []byte
	enc *bson.Encoder
}

const keptBuffer = 1 << 20 // the largest buffer that is kept for later

var generalEncoders = sync.Pool{New: func() any {
	g := new(generalEncoder)
	g.enc = bson.NewEncoder(bson.NewDocumentWriter(g))
	return g
}}

// Write implements [io.Writer].
func (g *generalEncoder) Write(p []byte) (int, error) {
	g.out = append(g.out, p...)
	return len(p), nil
}

// appendGeneral appends v as a document by the general encoder. An encoder that stopped inside a document, with an error
// or a panic of one of v's methods, is not used again, because the part that it wrote is still in its buffers.
func appendGeneral(dst []byte, v any) ([]byte, error) {
	g := generalEncoders.Get().(*generalEncoder)
	g.out = g.out[:0]
	if err := g.enc.Encode(v); err != nil {
		return nil, err
	}
	if err := checkValue(bson.TypeEmbeddedDocument, g.out); err != nil {
		return nil, fmt.Errorf("%T: %w", v, err)
	}
	dst = append(dst, g.out...)
	if cap(g.out) <= keptBuffer {
		generalEncoders.Put(g)
	}
	return dst, nil
}

// appendMinSize is appendGeneral with the option minsize for all numbers.
func appendMinSize(dst []byte, v any) ([]byte, error) {
	var g generalEncoder
	enc := bson.NewEncoder(bson.NewDocumentWriter(&g))
	enc.IntMinSize()
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return append(dst, g.out...), nil
}
