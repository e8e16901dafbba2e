package bsoncodec

import (
	"reflect"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// structDecoder decodes documents into one struct type.
type structDecoder struct {
	fields []fieldDecoder
	byName map[string]int
}

type fieldDecoder struct {
	*typeDecoder

	name  string
	index int   // in the struct
	path  []int // of a field of an inline struct, else nil
	iface bool
}

func (m decoderMaker) ofStruct(t reflect.Type) typeDecoder {
	fields, ok := fieldsOf(t)
	if !ok {
		return typeDecoder{decode: decodeGeneral}
	}
	s := &structDecoder{byName: make(map[string]int, len(fields))}
	for i, f := range fields {
		d := fieldDecoder{name: f.name, index: f.path[0], iface: f.typ.Kind() == reflect.Interface}
		if len(f.path) > 1 {
			d.path = f.path
		}
		if d.typeDecoder = m.decoder(f.typ); f.truncate {
			if d.typeDecoder = truncating(f.typ); d.typeDecoder == nil {
				return typeDecoder{decode: decodeGeneral}
			}
		}
		s.byName[f.name] = i
		s.fields = append(s.fields, d)
	}
	return typeDecoder{decode: s.decode, documents: true}
}

// truncating returns the decoder of a number whose fraction may be lost, or nil if the type is not a number.
func truncating(t reflect.Type) *typeDecoder {
	if _, named := bsonTypes[t]; named || decodeHook(t) != nil || t.Kind() < reflect.Int || t.Kind() > reflect.Float64 {
		return nil
	}
	return &typeDecoder{decode: decodeKind(t.Kind(), true)}
}

func (s *structDecoder) decode(mem *memory, v value, target reflect.Value) error {
	if v.typ != bson.TypeEmbeddedDocument {
		if v.isNull() {
			target.SetZero()
			return nil
		}
		return errMismatch
	}
	next := 0 // most documents have the order of the struct, so this field is expected next
	for r := elements(v.data); r.more(); {
		var n int
		if next < len(s.fields) && r.at(s.fields[next].name) {
			n = len(s.fields[next].name)
		} else {
			key := r.key()
			n = len(key)
			i, known := s.find(key)
			if !known {
				r.value(n)
				continue
			}
			next = i
		}
		f := &s.fields[next]
		if err := f.set(mem, r.value(n), target); err != nil {
			return err
		}
		next++
	}
	return nil
}

// find returns the field for a key: the one with this name, or else with the name in lower case.
func (s *structDecoder) find(key []byte) (int, bool) {
	i, known := s.byName[string(key)]
	if !known && !lower(key) {
		i, known = s.byName[strings.ToLower(string(key))]
	}
	return i, known
}

func lower(key []byte) bool {
	for _, c := range key {
		if c >= 'A' && c <= 'Z' || c >= 0x80 {
			return false
		}
	}
	return true
}

func (f *fieldDecoder) set(mem *memory, v value, target reflect.Value) error {
	if f.path == nil {
		target = target.Field(f.index)
	} else {
		target = inlineField(target, f.path)
	}
	if f.iface && !target.IsNil() && target.Elem().Kind() == reflect.Pointer {
		pointed := target.Elem().Elem()
		if !pointed.IsValid() {
			return errMismatch
		}
		return decoderOf(pointed.Type()).decode(mem, v, pointed)
	}
	return f.decode(mem, v, target)
}

// inlineField returns the field at a path. Nil pointers to inline structs get a new struct.
func inlineField(target reflect.Value, path []int) reflect.Value {
	for i, index := range path {
		if i > 0 && target.Kind() == reflect.Pointer {
			if target.IsNil() {
				target.Set(reflect.New(target.Type().Elem()))
			}
			target = target.Elem()
		}
		target = target.Field(index)
	}
	return target
}
