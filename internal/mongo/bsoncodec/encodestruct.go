package bsoncodec

import (
	"reflect"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// structEncoder encodes one struct type.
type structEncoder struct{ fields []fieldEncoder }

type fieldEncoder struct {
	*typeEncoder

	name    string
	index   int                        // in the struct
	path    []int                      // of a field of an inline struct, else nil
	empty   func(v reflect.Value) bool // reports whether the field is omitted; nil if it never is
	minSize bool
}

func (m encoderMaker) ofStruct(t reflect.Type) typeEncoder {
	general := typeEncoder{element: encodeGeneral}
	fields, ok := fieldsOf(t)
	if !ok {
		return general
	}
	s, addressless := &structEncoder{}, true
	for _, f := range fields {
		e := fieldEncoder{typeEncoder: m.encoder(f.typ), name: f.name, index: f.path[0], minSize: f.minSize}
		if len(f.path) > 1 {
			e.path = f.path
		}
		if f.omitEmpty {
			if e.empty = emptiness(f.typ); e.empty == nil {
				return general
			}
		}
		s.fields = append(s.fields, e)
		addressless = addressless && e.addressless
	}
	return typeEncoder{element: nested(bson.TypeEmbeddedDocument, s.encode), document: s.encode, addressless: addressless}
}

func (s *structEncoder) encode(dst []byte, p place, v reflect.Value) ([]byte, error) {
	inner, start, dst, err := p.open(dst)
	if err != nil {
		return nil, err
	}
	for i := range s.fields {
		f := &s.fields[i]
		source, exists := f.in(v)
		if !exists || f.empty != nil && f.empty(source) {
			continue
		}
		at, b := begin(dst, f.name, inner)
		at.minSize = at.minSize || f.minSize
		if dst, err = f.element(b, at, source); err != nil {
			return nil, err
		}
	}
	return closed(dst, start), nil
}

// in returns the field of a struct. It returns false if the field is in an inline struct whose pointer is nil.
func (f *fieldEncoder) in(v reflect.Value) (reflect.Value, bool) {
	if f.path == nil {
		return v.Field(f.index), true
	}
	for i, index := range f.path {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(index)
	}
	return v, true
}

// emptiness returns the function that reports whether omitempty omits a value of a type, or nil if only the general
// encoder knows it.
func emptiness(t reflect.Type) func(v reflect.Value) bool {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return func(v reflect.Value) bool { return as[time.Time](v).IsZero() }
	case t == reflect.TypeFor[bson.ObjectID]():
		return reflect.Value.IsZero
	case t.Kind() == reflect.Interface:
		if t.NumMethod() > 0 {
			return nil
		}
		return reflect.Value.IsNil
	case t.Implements(reflect.TypeFor[bson.Zeroer]()):
		return func(v reflect.Value) bool {
			return v.Kind() == reflect.Pointer && v.IsNil() || v.Interface().(bson.Zeroer).IsZero()
		}
	}
	if unknownKind(t) {
		return nil // the general encoder refuses the type even if the value is empty
	}
	switch t.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return func(v reflect.Value) bool { return v.Len() == 0 }
	case reflect.Struct:
		return func(reflect.Value) bool { return false }
	default:
		return reflect.Value.IsZero
	}
}
