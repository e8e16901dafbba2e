package bsoncodec

import (
	"encoding/binary"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// open begins a document (or an array) where p stands, and returns the place of its elements and where it begins.
func (p place) open(dst []byte) (place, int, []byte, error) {
	if p.depth++; p.depth > maxDepth {
		return p, 0, nil, errTooDeep
	}
	return p, len(dst), append(dst, 0, 0, 0, 0), nil
}

// closed ends the document that begins at index start.
func closed(dst []byte, start int) []byte {
	dst = append(dst, 0)
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst
}

// nested returns the encoder of an element whose value is a document (or an array). Nil is null.
func nested(t bson.Type, document encodeFunc) encodeFunc {
	return func(dst []byte, p place, v reflect.Value) ([]byte, error) {
		if k := v.Kind(); (k == reflect.Map || k == reflect.Slice) && v.IsNil() {
			return p.putNull(dst), nil
		}
		dst[p.typeAt] = byte(t)
		return document(dst, p, v)
	}
}

// appendAny appends the value of an element.
func (p place) appendAny(dst []byte, v any) ([]byte, error) {
	switch x := v.(type) {
	case nil:
		return p.putNull(dst), nil
	case string:
		return p.putString(dst, x), nil
	case int:
		return p.putInt(dst, int64(x), true), nil
	case int32:
		return p.putInt32(dst, x), nil
	case int64:
		return p.putInt(dst, x, p.minSize), nil
	case float64:
		return p.putDouble(dst, x), nil
	case bool:
		return p.putBool(dst, x), nil
	case bson.ObjectID:
		return p.putObjectID(dst, x), nil
	case time.Time:
		return p.putTime(dst, x), nil
	case bson.DateTime:
		return p.put64(dst, bson.TypeDateTime, uint64(x)), nil
	case bson.D:
		if x != nil {
			dst[p.typeAt] = byte(bson.TypeEmbeddedDocument)
			return p.appendD(dst, x)
		}
		return p.putNull(dst), nil
	case bson.M:
		if x != nil {
			dst[p.typeAt] = byte(bson.TypeEmbeddedDocument)
			return p.appendM(dst, x)
		}
		return p.putNull(dst), nil
	default:
		rv := reflect.ValueOf(v)
		return encoderOf(rv.Type()).element(dst, p, rv)
	}
}

// appendD appends d as a document.
func (p place) appendD(dst []byte, d bson.D) ([]byte, error) {
	inner, start, dst, err := p.open(dst)
	for i := 0; err == nil && i < len(d); i++ {
		dst, err = inner.appendEntry(dst, d[i].Key, d[i].Value)
	}
	if err != nil {
		return nil, err
	}
	return closed(dst, start), nil
}

// appendM appends m as a document.
func (p place) appendM(dst []byte, m bson.M) ([]byte, error) {
	inner, start, dst, err := p.open(dst)
	if err != nil {
		return nil, err
	}
	for key, x := range m {
		if dst, err = inner.appendEntry(dst, key, x); err != nil {
			return nil, err
		}
	}
	return closed(dst, start), nil
}

func (p place) appendEntry(dst []byte, key string, v any) ([]byte, error) {
	if strings.IndexByte(key, 0) >= 0 {
		return nil, errZeroInKey
	}
	p, dst = begin(dst, key, p)
	return p.appendAny(dst, v)
}

func (m encoderMaker) ofMap(t reflect.Type) typeEncoder {
	if t.Key().Kind() != reflect.String || unknownKind(t.Elem()) {
		return typeEncoder{element: encodeGeneral}
	}
	elem := m.encoder(t.Elem())
	document := func(dst []byte, p place, v reflect.Value) ([]byte, error) {
		inner, start, dst, err := p.open(dst)
		for it := v.MapRange(); err == nil && it.Next(); {
			key := it.Key().String()
			if strings.IndexByte(key, 0) >= 0 {
				return nil, errZeroInKey
			}
			var at place
			at, dst = begin(dst, key, inner)
			dst, err = elem.element(dst, at, it.Value())
		}
		if err != nil {
			return nil, err
		}
		return closed(dst, start), nil
	}
	if t == reflect.TypeFor[bson.M]() || t == reflect.TypeFor[map[string]any]() {
		document = encodeM
	}
	return typeEncoder{element: nested(bson.TypeEmbeddedDocument, document), document: document, addressless: true}
}

func encodeM(dst []byte, p place, v reflect.Value) ([]byte, error) {
	if m, ok := v.Interface().(bson.M); ok {
		return p.appendM(dst, m)
	}
	return p.appendM(dst, v.Interface().(map[string]any))
}

func (m encoderMaker) ofSlice(t reflect.Type) typeEncoder {
	if t == reflect.TypeFor[bson.D]() {
		document := func(dst []byte, p place, v reflect.Value) ([]byte, error) {
			return p.appendD(dst, as[bson.D](v))
		}
		return typeEncoder{element: nested(bson.TypeEmbeddedDocument, document), document: document, addressless: true}
	}
	return m.ofArray(t)
}

// ofArray makes the encoder of an array or a slice.
func (m encoderMaker) ofArray(t reflect.Type) typeEncoder {
	if special(t.Elem()) || unknownKind(t.Elem()) {
		return typeEncoder{element: encodeGeneral}
	}
	elem := m.encoder(t.Elem())
	addressless := t.Kind() == reflect.Slice || elem.addressless
	return typeEncoder{addressless: addressless, element: nested(bson.TypeArray, func(dst []byte, p place, v reflect.Value) ([]byte, error) {
		inner, start, dst, err := p.open(dst)
		for i := 0; err == nil && i < v.Len(); i++ {
			at := inner
			at.typeAt = len(dst)
			dst = append(strconv.AppendInt(append(dst, 0), int64(i), 10), 0)
			dst, err = elem.element(dst, at, v.Index(i))
		}
		if err != nil {
			return nil, err
		}
		return closed(dst, start), nil
	})}
}
