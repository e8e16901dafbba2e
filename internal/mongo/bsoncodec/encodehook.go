package bsoncodec

import (
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
)

var encodingMethods = []struct {
	iface reflect.Type
	call  encodeFunc
}{
	{reflect.TypeFor[bson.ValueMarshaler](), callMarshalValue},
	{reflect.TypeFor[bson.Marshaler](), callMarshal},
}

// hook returns the encoder of a type that has an encoding method of its own, or nil. If only pointers to the type have
// the method, it is called for values that have an address; the others are encoded as if there were no such method.
func (m encoderMaker) hook(t reflect.Type) encodeFunc {
	for _, method := range encodingMethods {
		if t.Implements(method.iface) {
			return method.call
		}
		if t.Kind() == reflect.Pointer || !reflect.PointerTo(t).Implements(method.iface) {
			continue
		}
		without := m.ofKind(t).element
		if t.Implements(reflect.TypeFor[bson.Marshaler]()) {
			without = callMarshal
		}
		return func(dst []byte, p place, v reflect.Value) ([]byte, error) {
			if v.CanAddr() {
				return method.call(dst, p, v.Addr())
			}
			return without(dst, p, v)
		}
	}
	return nil
}

func callMarshalValue(dst []byte, p place, v reflect.Value) ([]byte, error) {
	hook, ok := v.Interface().(bson.ValueMarshaler)
	if !ok || nilOfValueMethod(v, reflect.TypeFor[bson.ValueMarshaler]()) {
		return p.putNull(dst), nil
	}
	t, data, err := hook.MarshalBSONValue()
	if err != nil {
		return nil, err
	}
	if err := checkValue(bson.Type(t), data); err != nil {
		return nil, fmt.Errorf("%v.MarshalBSONValue: %w", v.Type(), err)
	}
	return p.putBytes(dst, bson.Type(t), data), nil
}

func callMarshal(dst []byte, p place, v reflect.Value) ([]byte, error) {
	hook, ok := v.Interface().(bson.Marshaler)
	if !ok || nilOfValueMethod(v, reflect.TypeFor[bson.Marshaler]()) {
		return p.putNull(dst), nil
	}
	data, err := hook.MarshalBSON()
	if err != nil {
		return nil, err
	}
	if err := checkValue(bson.TypeEmbeddedDocument, data); err != nil {
		return nil, fmt.Errorf("%v.MarshalBSON: %w", v.Type(), err)
	}
	return p.putBytes(dst, bson.TypeEmbeddedDocument, data), nil
}

// nilOfValueMethod reports whether v is a nil pointer to a type that has the method itself, so that a call would panic.
func nilOfValueMethod(v reflect.Value, iface reflect.Type) bool {
	if v.Kind() != reflect.Pointer || !v.IsNil() {
		return false
	}
	t := v.Type()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Implements(iface)
}
