package javascript

import (
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// maxDepth is how deep objects may be in one another.
const maxDepth = 150

var errDepth = mongoerr.Errorf(17279, "Exceeded depth limit of %d when converting js object to BSON. Do you have a cycle?", maxDepth)

// toBSON returns what a value of the code is in BSON. was is what was there before: an int that is still the same number stays one,
// all other numbers are doubles.
func (e *Engine) toBSON(v goja.Value, was query.Value, depth int) query.Value {
	switch {
	case depth > maxDepth:
		panic(e.vm.NewGoError(errDepth))
	case v == nil || goja.IsUndefined(v):
		return query.Value{Type: bson.TypeUndefined}
	case goja.IsNull(v):
		return query.Value{Type: bson.TypeNull}
	}
	if o, ok := v.(*goja.Object); ok {
		return e.objectToBSON(o, depth)
	}
	switch x := v.Export().(type) {
	case bool:
		return query.Value{Type: bson.TypeBoolean, Data: []byte{truthByte(x)}}
	case string:
		return query.Text(strings.ToValidUTF8(x, "\uFFFD"))
	case int64, float64:
		n := v.ToFloat()
		if was.Type == bson.TypeInt32 && was.AsFloat64() == n {
			return was
		}
		return query.Double(n)
	}
	panic(e.vm.NewTypeError("a value of this type cannot be converted to BSON: " + v.String()))
}

func truthByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func (e *Engine) objectToBSON(o *goja.Object, depth int) query.Value {
	if b, ok := e.boxOf(o); ok {
		return b
	}
	switch o.ClassName() {
	case "Date":
		n := o.ToFloat()
		if math.IsNaN(n) {
			return query.Value{Type: bson.TypeNull}
		}
		return raw(bson.DateTime(int64(n)))
	case "RegExp":
		return regex(o)
	case "Function":
		return raw(bson.JavaScript(o.String()))
	case "Array":
		return e.arrayToBSON(o, depth)
	}
	was, _ := hiddenIn(o, e.written)
	var b query.Builder
	for _, name := range o.Keys() {
		b.Set(name, e.toBSON(o.Get(name), query.Lookup(orEmpty(was), name), depth+1))
	}
	return query.PlainValue(b.Made())
}

func orEmpty(v query.Value) []byte {
	if v.Missing() {
		return query.EmptyDocument
	}
	return v.Data
}

func (e *Engine) arrayToBSON(o *goja.Object, depth int) query.Value {
	was, _ := hiddenIn(o, e.written)
	before := query.Elements(orEmpty(was))
	var elements []query.Value
	for i := range o.Get("length").ToInteger() {
		old := query.Value{}
		if int(i) < len(before) {
			old = before[i]
		}
		elements = append(elements, e.toBSON(o.Get(strconv.Itoa(int(i))), old, depth+1))
		e.checkStopped()
	}
	return query.Array(elements)
}

// regex returns a regular expression with the flags that BSON has, in their order.
func regex(o *goja.Object) query.Value {
	flags := strings.Map(func(r rune) rune {
		if strings.ContainsRune("imsu", r) {
			return r
		}
		return -1
	}, o.Get("flags").String())
	return raw(bson.Regex{Pattern: o.Get("source").String(), Options: flags})
}

// raw returns a value of the driver's types.
func raw(v any) query.Value {
	t, data, err := bson.MarshalValue(v)
	if err != nil {
		return query.Value{Type: bson.TypeNull} // no value that is made here has an error
	}
	return query.Value{Type: t, Data: data}
}
