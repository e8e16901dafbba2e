package mongo

import (
	"reflect"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// decodeByPlan decodes doc into v. It returns false if there is no plan for doc and v; some fields of v may be set
// then.
func decodeByPlan(doc []byte, v any) bool {
	target := reflect.ValueOf(v)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return false
	}
	target = target.Elem()
	if target.Kind() != reflect.Struct {
		return false
	}
	p := planFor(target.Type())
	return p != nil && p.decode(doc, target)
}

func (p *plan) decode(doc []byte, target reflect.Value) bool {
	next := 0
	it := wire.Elements(doc)
	for it.Next() {
		if next == len(p.fields) || p.fields[next].name != string(it.Key) {
			i, known := p.byName[string(it.Key)]
			if !known {
				if lower(it.Key) {
					continue
				}
				return false // the general decoder also looks for the key in lower case
			}
			next = i
		}
		f := &p.fields[next]
		if !f.set(target.Field(f.index), &it.Element) {
			return false
		}
		next++
	}
	return it.Err == nil
}

func lower(key []byte) bool {
	for _, c := range key {
		if c >= 'A' && c <= 'Z' || c >= 0x80 {
			return false
		}
	}
	return true
}

func setString(field reflect.Value, e *wire.Element) bool {
	text := e.Text()
	if text == nil {
		return false
	}
	field.SetString(string(text))
	return true
}

func setBool(field reflect.Value, e *wire.Element) bool {
	if e.Type != bson.TypeBoolean || e.Value[0] > 1 {
		return false
	}
	field.SetBool(e.Value[0] == 1)
	return true
}

func setInt(field reflect.Value, e *wire.Element) bool {
	if e.Type != bson.TypeInt32 && e.Type != bson.TypeInt64 {
		return false
	}
	n, _ := e.Int64()
	if field.OverflowInt(n) {
		return false
	}
	field.SetInt(n)
	return true
}

func setFloat(field reflect.Value, e *wire.Element) bool {
	if e.Type != bson.TypeDouble {
		return false
	}
	field.SetFloat(e.Float64())
	return true
}

func setObjectID(field reflect.Value, e *wire.Element) bool {
	if e.Type != bson.TypeObjectID {
		return false
	}
	*field.Addr().Interface().(*bson.ObjectID) = bson.ObjectID(e.Value)
	return true
}

func setTime(field reflect.Value, e *wire.Element) bool {
	if e.Type != bson.TypeDateTime {
		return false
	}
	ms, _ := e.Int64()
	*field.Addr().Interface().(*time.Time) = time.UnixMilli(ms).UTC()
	return true
}
