package bsoncodec

import (
	"encoding"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func (m decoderMaker) ofMap(t reflect.Type) typeDecoder {
	key := t.Key()
	if key.Kind() != reflect.String || undecodable(t.Elem()) || implements(key, reflect.TypeFor[bson.KeyUnmarshaler]()) ||
		implements(key, reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return typeDecoder{decode: decodeGeneral}
	}
	if t == reflect.TypeFor[bson.M]() || t == reflect.TypeFor[map[string]any]() {
		return typeDecoder{decode: decodeM, documents: true}
	}
	if t == reflect.TypeFor[map[string]string]() {
		return typeDecoder{decode: decodeStringMap, documents: true}
	}
	elem, elemType := m.decoder(t.Elem()), t.Elem()
	return typeDecoder{documents: true, decode: func(mem *memory, v value, target reflect.Value) error {
		if v.typ != bson.TypeEmbeddedDocument {
			return decodeGeneral(nil, v, target)
		}
		if target.IsNil() {
			target.Set(reflect.MakeMapWithSize(t, count(v.data)))
		}
		k, slot := reflect.New(key).Elem(), reflect.New(elemType).Elem()
		for r := elements(v.data); r.more(); {
			text := mem.key(&r)
			slot.SetZero()
			if err := elem.decode(mem, r.value(len(text)), slot); err != nil {
				return err
			}
			k.SetString(text)
			target.SetMapIndex(k, slot)
		}
		return nil
	}}
}

func decodeM(mem *memory, v value, target reflect.Value) error {
	if v.typ != bson.TypeEmbeddedDocument {
		return decodeGeneral(nil, v, target)
	}
	var p *bson.M
	if m, ok := target.Addr().Interface().(*bson.M); ok {
		p = m
	} else {
		p = (*bson.M)(target.Addr().Interface().(*map[string]any))
	}
	if *p == nil {
		*p = make(bson.M, count(v.data))
	}
	m := *p
	for r := elements(v.data); r.more(); {
		key := mem.key(&r)
		x, err := r.value(len(key)).any(mem)
		if err != nil {
			return err
		}
		m[key] = x
	}
	return nil
}

func decodeStringMap(mem *memory, v value, target reflect.Value) error {
	if v.typ != bson.TypeEmbeddedDocument {
		return decodeGeneral(nil, v, target)
	}
	p := target.Addr().Interface().(*map[string]string)
	if *p == nil {
		*p = make(map[string]string, count(v.data))
	}
	m := *p
	for r := elements(v.data); r.more(); {
		key := mem.key(&r)
		x := r.value(len(key))
		if x.isText() {
			m[key] = string(x.text())
			continue
		}
		var text string // the general decoder knows which other types are strings
		if err := decodeGeneral(nil, x, reflect.ValueOf(&text).Elem()); err != nil {
			return err
		}
		m[key] = text
	}
	return nil
}
