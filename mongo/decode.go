package mongo

import (
	"reflect"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
)

// A plan decodes documents into one struct type, in one pass and without the general decoder. It knows the commonest
// types of field; a struct with another one has no plan, and a document in which anything is not as the plan expects is
// left to the general decoder, so that what is decoded is always the same.
type plan struct {
	fields []planField
	byName map[string]int
}

type planField struct {
	name  string
	index int
	set   func(field reflect.Value, e *wire.Element) bool
}

var plans sync.Map // of reflect.Type to *plan; nil where there is none

// setters are the types of field that plans know.
var setters = map[reflect.Type]func(reflect.Value, *wire.Element) bool{
	reflect.TypeFor[string]():        setString,
	reflect.TypeFor[bool]():          setBool,
	reflect.TypeFor[int]():           setInt,
	reflect.TypeFor[int32]():         setInt,
	reflect.TypeFor[int64]():         setInt,
	reflect.TypeFor[float64]():       setFloat,
	reflect.TypeFor[bson.ObjectID](): setObjectID,
	reflect.TypeFor[time.Time]():     setTime,
}

// decodeByPlan decodes doc into v and tells whether it did. If not, v may be partly set, to what doc says.
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

func planFor(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := newPlan(t)
	plans.Store(t, p)
	return p
}

var (
	unmarshaler      = reflect.TypeFor[bson.Unmarshaler]()
	valueUnmarshaler = reflect.TypeFor[bson.ValueUnmarshaler]()
)

// newPlan returns the plan of a struct type, or nil.
func newPlan(t reflect.Type) *plan {
	if p := reflect.PointerTo(t); p.Implements(unmarshaler) || p.Implements(valueUnmarshaler) {
		return nil
	}
	p := &plan{byName: make(map[string]int)}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		name, plain := fieldName(f)
		if name == "-" {
			continue
		}
		set := setters[f.Type]
		if _, twice := p.byName[name]; !plain || f.Anonymous || set == nil || twice {
			return nil
		}
		p.byName[name] = len(p.fields)
		p.fields = append(p.fields, planField{name: name, index: i, set: set})
	}
	return p
}

// fieldName returns a field's key in a document, and whether its tag asks for nothing that changes how it is decoded.
func fieldName(f reflect.StructField) (string, bool) {
	tag, ok := f.Tag.Lookup("bson")
	if !ok && f.Tag != "" && !strings.Contains(string(f.Tag), ":") {
		return "", false // the whole tag is a name in the general decoder's view
	}
	name, flags, _ := strings.Cut(tag, ",")
	if tag == "-" {
		return "-", true
	}
	if name == "" {
		name = strings.ToLower(f.Name)
	}
	for flag := range strings.SplitSeq(flags, ",") {
		switch flag {
		case "", "omitempty", "minsize": // they are about encoding
		default:
			return "", false
		}
	}
	return name, true
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
