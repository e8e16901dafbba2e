package bsoncodec

import (
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// any returns the value as the Go type that the general decoder chooses for a variable of type any.
func (v value) any(mem *memory) (any, error) {
	switch v.typ {
	case bson.TypeString:
		if v.isText() {
			return string(v.text()), nil
		}
	case bson.TypeInt32:
		return v.int32(), nil
	case bson.TypeInt64:
		return v.int64(), nil
	case bson.TypeDouble:
		return v.double(), nil
	case bson.TypeBoolean:
		if v.data[0] <= 1 {
			return v.data[0] == 1, nil
		}
	case bson.TypeObjectID:
		return v.objectID(), nil
	case bson.TypeDateTime:
		return bson.DateTime(v.int64()), nil
	case bson.TypeNull:
		return nil, nil //nolint:nilnil // null is nil
	case bson.TypeEmbeddedDocument:
		return v.appendD(mem, nil)
	case bson.TypeArray:
		return v.appendA(mem, nil)
	case bson.TypeDecimal128:
		return v.decimal(), nil
	case bson.TypeTimestamp:
		return v.timestamp(), nil
	case bson.TypeBinary:
		return v.asBinary(), nil
	}
	return generalValue(v.typ, v.data)
}

// appendD reads a document into d, in place of d's elements.
func (v value) appendD(mem *memory, d bson.D) (bson.D, error) {
	if mem == nil {
		return v.appendCountedD(d)
	}
	first := len(mem.unfinished)
	for r := elements(v.data); r.more(); {
		key := mem.key(&r)
		x, err := r.value(len(key)).any(mem)
		if err != nil {
			return nil, err
		}
		mem.unfinished = append(mem.unfinished, bson.E{Key: key, Value: x})
	}
	all := mem.unfinished[first:]
	if d == nil || cap(d) < len(all) {
		d = make(bson.D, 0, len(all))
	}
	d = append(d[:0], all...)
	clear(all) // the decoder must not keep values
	mem.unfinished = mem.unfinished[:first]
	return d, nil
}

// appendCountedD is appendD without a memory.
func (v value) appendCountedD(d bson.D) (bson.D, error) {
	if n := count(v.data); d == nil || cap(d) < n {
		d = make(bson.D, 0, n)
	}
	d = d[:0]
	for r := elements(v.data); r.more(); {
		key := r.key()
		x, err := r.value(len(key)).any(nil)
		if err != nil {
			return nil, err
		}
		d = append(d, bson.E{Key: string(key), Value: x})
	}
	return d, nil
}

// appendA reads an array into a, in place of a's elements.
func (v value) appendA(mem *memory, a bson.A) (bson.A, error) {
	if n := count(v.data); a == nil || cap(a) < n {
		a = make(bson.A, 0, n)
	}
	a = a[:0]
	for r := elements(v.data); r.more(); {
		x, err := r.value(len(r.key())).any(mem)
		if err != nil {
			return nil, err
		}
		a = append(a, x)
	}
	return a, nil
}

func decodeAny(mem *memory, v value, target reflect.Value) error {
	x, err := v.any(mem)
	if err != nil {
		return err
	}
	*target.Addr().Interface().(*any) = x
	return nil
}

func decodeD(mem *memory, v value, target reflect.Value) error {
	if v.typ != bson.TypeEmbeddedDocument {
		return decodeGeneral(nil, v, target)
	}
	p := target.Addr().Interface().(*bson.D)
	d, err := v.appendD(mem, *p)
	if err != nil {
		return err
	}
	*p = d
	return nil
}
