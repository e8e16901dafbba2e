package mongo

import (
	"reflect"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// A plan decodes and encodes one struct type in one pass, without the general codec. It supports the most common
// types of fields; a struct with a field of another type has no plan. If a document does not match the plan, the
// general decoder decodes it. So the result is always that of the general codec.
type plan struct {
	fields []planField
	byName map[string]int
}

type planField struct {
	fieldCodec
	name      string
	index     int
	omitEmpty bool
	minSize   bool
}

// fieldCodec decodes a type of field, and encodes it by appending to dst.
type fieldCodec struct {
	set func(field reflect.Value, e *wire.Element) bool
	put func(dst []byte, f *planField, field reflect.Value) []byte
}

var plans sync.Map // from reflect.Type to *plan, which is nil if the type has none

// fieldCodecs has the types of fields that plans support.
var fieldCodecs = map[reflect.Type]fieldCodec{
	reflect.TypeFor[string]():        {setString, putString},
	reflect.TypeFor[bool]():          {setBool, putBool},
	reflect.TypeFor[int]():           {setInt, putInt},
	reflect.TypeFor[int32]():         {setInt, putInt32},
	reflect.TypeFor[int64]():         {setInt, putInt64},
	reflect.TypeFor[float64]():       {setFloat, putFloat},
	reflect.TypeFor[bson.ObjectID](): {setObjectID, putObjectID},
	reflect.TypeFor[time.Time]():     {setTime, putTime},
}

func planFor(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := newPlan(t)
	plans.Store(t, p)
	return p
}

// hooks are the interfaces with which a type replaces its encoding or decoding.
var hooks = []reflect.Type{
	reflect.TypeFor[bson.Unmarshaler](), reflect.TypeFor[bson.ValueUnmarshaler](),
	reflect.TypeFor[bson.Marshaler](), reflect.TypeFor[bson.ValueMarshaler](),
}

// newPlan returns the plan of a struct type, or nil if there is none.
func newPlan(t reflect.Type) *plan {
	for _, hook := range hooks {
		if reflect.PointerTo(t).Implements(hook) {
			return nil
		}
	}
	p := &plan{byName: make(map[string]int)}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		field, ok := newPlanField(f)
		if ok && field.name == "-" {
			continue
		}
		if _, twice := p.byName[field.name]; !ok || f.Anonymous || field.set == nil || twice {
			return nil
		}
		p.byName[field.name] = len(p.fields)
		field.index = i
		p.fields = append(p.fields, field)
	}
	return p
}

// newPlanField returns a field's plan. Its name is "-" if the field is omitted. It returns false if plans do not
// support the field's tag.
func newPlanField(f reflect.StructField) (planField, bool) {
	tag, ok := f.Tag.Lookup("bson")
	if !ok && f.Tag != "" && !strings.Contains(string(f.Tag), ":") {
		return planField{}, false // the general codec uses the whole tag as the name
	}
	p := planField{fieldCodec: fieldCodecs[f.Type]}
	if tag == "-" {
		p.name = "-"
		return p, true
	}
	name, flags, _ := strings.Cut(tag, ",")
	if p.name = name; name == "" {
		p.name = strings.ToLower(f.Name)
	}
	for flag := range strings.SplitSeq(flags, ",") {
		switch flag {
		case "":
		case "omitempty":
			p.omitEmpty = true
		case "minsize":
			p.minSize = true
		default:
			return planField{}, false
		}
	}
	return p, true
}
