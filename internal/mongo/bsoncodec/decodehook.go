package bsoncodec

import (
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// implements reports whether a type, or a pointer to it, implements an interface.
func implements(t, iface reflect.Type) bool {
	return t.Implements(iface) || t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(iface)
}

// decodeHook returns the decoder of a type that has a decoding method of its own, or nil.
func decodeHook(t reflect.Type) decodeFunc {
	switch {
	case implements(t, reflect.TypeFor[bson.ValueUnmarshaler]()):
		return callUnmarshalValue
	case implements(t, reflect.TypeFor[bson.Unmarshaler]()):
		return callUnmarshal
	default:
		return nil
	}
}

func callUnmarshalValue(_ *memory, v value, target reflect.Value) error {
	if v.typ == bson.TypeNull && target.Kind() == reflect.Pointer {
		target.SetZero()
		return nil
	}
	hook, ok := receiver[bson.ValueUnmarshaler](target)
	if !ok {
		return errMismatch
	}
	return hook.UnmarshalBSONValue(byte(v.typ), v.copied())
}

func callUnmarshal(_ *memory, v value, target reflect.Value) error {
	hook, ok := receiver[bson.Unmarshaler](target)
	if target.Kind() == reflect.Pointer && len(v.data) == 0 {
		target.SetZero()
		return nil
	}
	if !ok {
		return errMismatch
	}
	return hook.UnmarshalBSON(v.copied())
}

// receiver returns target, or a pointer to it, as an interface that one of them implements. A nil pointer gets a new
// value first.
func receiver[T any](target reflect.Value) (T, bool) {
	if target.Kind() == reflect.Pointer && target.IsNil() {
		target.Set(reflect.New(target.Type().Elem()))
	}
	if !target.Type().Implements(reflect.TypeFor[T]()) {
		target = target.Addr()
	}
	hook, ok := target.Interface().(T)
	return hook, ok
}
