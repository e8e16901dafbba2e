package bsoncodec

import (
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// special reports whether a slice or an array of such elements is not encoded as an array: bytes are a binary, and
// elements of a document are a document. The general codec does it.
func special(elem reflect.Type) bool {
	return elem == reflect.TypeFor[byte]() || elem == reflect.TypeFor[bson.E]()
}

// undecodable reports whether the default registry has no decoder for a type, unless it has methods of its own.
func undecodable(t reflect.Type) bool {
	return unknownKind(t) || t.Kind() == reflect.Interface && t.NumMethod() > 0
}

func (m decoderMaker) ofSlice(t reflect.Type) decodeFunc {
	if special(t.Elem()) || undecodable(t.Elem()) {
		return decodeGeneral
	}
	if t == reflect.TypeFor[bson.A]() || t == reflect.TypeFor[[]any]() {
		return decodeA
	}
	elem, empty, interfaces := m.decoder(t.Elem()), reflect.MakeSlice(t, 0, 0), t.Elem().Kind() == reflect.Interface
	return func(mem *memory, v value, target reflect.Value) error {
		switch {
		case v.isNull():
			target.SetZero()
			return nil
		case v.typ != bson.TypeArray, interfaces && target.Len() > 0: // the types of existing elements count
			return decodeGeneral(nil, v, target)
		}
		n := count(v.data)
		if target.IsNil() {
			target.Set(empty)
		}
		target.SetLen(0)
		used := target.Cap() > 0 // Grow keeps the elements beyond the length too
		target.Grow(n)
		target.SetLen(n)
		r := elements(v.data)
		for i := range n {
			slot := target.Index(i)
			if used {
				slot.SetZero()
			}
			if err := elem.decode(mem, r.value(len(r.key())), slot); err != nil {
				return err
			}
		}
		return nil
	}
}

func decodeA(mem *memory, v value, target reflect.Value) error {
	if v.typ != bson.TypeArray || target.Len() > 0 { // the types of existing elements count
		return decodeGeneral(nil, v, target)
	}
	var p *bson.A
	if a, ok := target.Addr().Interface().(*bson.A); ok {
		p = a
	} else {
		p = (*bson.A)(target.Addr().Interface().(*[]any))
	}
	a, err := v.appendA(mem, *p)
	if err != nil {
		return err
	}
	*p = a
	return nil
}

func (m decoderMaker) ofArray(t reflect.Type) decodeFunc {
	if special(t.Elem()) || unknownKind(t.Elem()) || t.Elem().Kind() == reflect.Interface {
		return decodeGeneral
	}
	elem, length := m.decoder(t.Elem()), t.Len()
	return func(mem *memory, v value, target reflect.Value) error {
		if v.typ != bson.TypeArray || count(v.data) > length {
			return decodeGeneral(nil, v, target)
		}
		r := elements(v.data)
		for i := 0; r.more(); i++ {
			slot := target.Index(i)
			slot.SetZero()
			if err := elem.decode(mem, r.value(len(r.key())), slot); err != nil {
				return err
			}
		}
		return nil
	}
}
