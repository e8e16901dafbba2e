package mongo

import (
	"reflect"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// A plan decodes documents into one struct type, and encodes it, in one pass and without the general codec. It knows the
// commonest types of field; a struct with another one has no plan, and a document in which anything is not as the plan
// expects is left to the general decoder, so that the outcome is always the same.
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

// fieldCodec is how a type of field is decoded, and encoded behind dst.
type fieldCodec struct {
	set func(field reflect.Value, e *wire.Element) bool
	put func(dst []byte, f *planField, field reflect.Value) []byte
}

var plans sync.Map // of reflect.Type to *plan; nil where there is none

// fieldCodecs are the types of field that plans know.
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

// hooks are what a type may implement to be encoded and decoded in its own way.
var hooks = []reflect.Type{
	reflect.TypeFor[bson.Unmarshaler](), reflect.TypeFor[bson.ValueUnmarshaler](),
	reflect.TypeFor[bson.Marshaler](), reflect.TypeFor[bson.ValueMarshaler](),
}

// newPlan returns the plan of a struct type, or nil.
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

// newPlanField returns a field's plan, named "-" if it is left out, or false if its tag asks for what plans do not do.
func newPlanField(f reflect.StructField) (planField, bool) {
	tag, ok := f.Tag.Lookup("bson")
	if !ok && f.Tag != "" && !strings.Contains(string(f.Tag), ":") {
		return planField{}, false // the whole tag is a name in the general codec's view
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
