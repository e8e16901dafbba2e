package javascript

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// fromBSON returns a value as the code sees it.
func (e *Engine) fromBSON(v query.Value, depth int) goja.Value {
	if depth > maxDepth {
		panic(e.vm.NewGoError(errDepth))
	}
	switch v.Type {
	case 0, bson.TypeUndefined:
		return goja.Undefined()
	case bson.TypeNull:
		return goja.Null()
	case bson.TypeBoolean:
		return e.vm.ToValue(v.True())
	case bson.TypeInt32, bson.TypeDouble:
		return e.vm.ToValue(v.AsFloat64())
	case bson.TypeString, bson.TypeSymbol:
		return e.vm.ToValue(string(query.Value{Type: bson.TypeString, Data: v.Data}.Text()))
	case bson.TypeEmbeddedDocument:
		return e.object(v, depth)
	case bson.TypeArray:
		return e.array(v, depth)
	case bson.TypeDateTime:
		return e.construct(e.date, e.vm.ToValue(v.AsInt64()))
	case bson.TypeRegex:
		pattern, options := rawOf(v).Regex()
		flags := strings.Map(func(r rune) rune {
			if strings.ContainsRune("imsu", r) {
				return r
			}
			return -1
		}, options)
		return e.construct(e.regexp, e.vm.ToValue(pattern), e.vm.ToValue(flags))
	case bson.TypeJavaScript:
		if f, err := e.code(rawOf(v).JavaScript()); err == nil {
			return f
		}
	}
	return e.boxOther(v, depth)
}

func rawOf(v query.Value) bson.RawValue { return bson.RawValue{Type: v.Type, Value: v.Data} }

// code makes a function of code.
func (e *Engine) code(text string) (goja.Value, error) {
	p, err := compile(text)
	if err != nil {
		return nil, err
	}
	return e.vm.RunProgram(p)
}

func (e *Engine) construct(constructor goja.Value, args ...goja.Value) goja.Value {
	o, err := e.vm.New(constructor, args...)
	if err != nil {
		panic(e.vm.NewGoError(err))
	}
	return o
}

// object makes an object of a document, and notes the document, for the types of its numbers.
func (e *Engine) object(v query.Value, depth int) goja.Value {
	o := e.vm.NewObject()
	fields := query.ObjectOf(v.Data)
	if len(fields) > 1 && fields[0].Name == "$ref" && fields[1].Name == "$id" {
		o = e.vm.CreateObject(e.types["DBRef"])
	}
	for _, f := range fields {
		if err := o.DefineDataProperty(f.Name, e.fromBSON(f.Value, depth+1), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
			panic(e.vm.NewGoError(err))
		}
	}
	e.hide(o, e.written, v)
	return o
}

func (e *Engine) array(v query.Value, depth int) goja.Value {
	var elements []any
	it := wire.Elements(v.Data)
	for it.Next() {
		elements = append(elements, e.fromBSON(query.Of(it.Element), depth+1))
	}
	o := e.vm.NewArray(elements...)
	e.hide(o, e.written, v)
	return o
}

// hide notes a BSON value in an object, where the code does not see it.
func (e *Engine) hide(o *goja.Object, at *goja.Symbol, v query.Value) {
	if err := o.DefineDataPropertySymbol(at, e.vm.ToValue(&hidden{v}), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
		panic(e.vm.NewGoError(err))
	}
}

// hidden is a BSON value that an object stands for.
type hidden struct{ value query.Value }

func hiddenIn(o *goja.Object, at *goja.Symbol) (query.Value, bool) {
	v := o.GetSymbol(at)
	if v == nil {
		return query.Value{}, false
	}
	h, ok := v.Export().(*hidden)
	if !ok {
		return query.Value{}, false
	}
	return h.value, true
}

func (e *Engine) boxOf(o *goja.Object) (query.Value, bool) { return hiddenIn(o, e.boxed) }

// typeOf names the types of BSON that JavaScript does not have, as their constructors are called.
var typeOf = map[bson.Type]string{
	bson.TypeInt32: "NumberInt", bson.TypeInt64: "NumberLong", bson.TypeDecimal128: "NumberDecimal", bson.TypeObjectID: "ObjectId", bson.TypeBinary: "BinData",
	bson.TypeTimestamp: "Timestamp", bson.TypeMinKey: "MinKey", bson.TypeMaxKey: "MaxKey", bson.TypeDBPointer: "DBPointer",
	bson.TypeCodeWithScope: "Code", bson.TypeJavaScript: "Code",
}

// boxOther makes an object for a value of a type that JavaScript does not have.
func (e *Engine) boxOther(v query.Value, depth int) goja.Value {
	o := e.vm.CreateObject(e.types[typeOf[v.Type]])
	e.hide(o, e.boxed, v)
	e.describe(o, v)
	if v.Type == bson.TypeCodeWithScope {
		if _, scope, ok := v.CodeWithScope(); ok {
			_ = o.Set("scope", e.fromBSON(query.Document(scope), depth+1))
		}
	}
	return o
}

// describe gives an object the properties that the code reads.
func (e *Engine) describe(o *goja.Object, v query.Value) {
	set := func(name string, value any) {
		if err := o.DefineDataProperty(name, e.vm.ToValue(value), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE); err != nil {
			panic(e.vm.NewGoError(err))
		}
	}
	raw := rawOf(v)
	switch v.Type {
	case bson.TypeObjectID:
		set("str", raw.ObjectID().Hex())
	case bson.TypeTimestamp:
		t, i := raw.Timestamp()
		set("t", t)
		set("i", i)
	case bson.TypeBinary:
		subtype, data := raw.Binary()
		set("len", len(data))
		set("type", subtype)
		set("data", base64.StdEncoding.EncodeToString(data))
	case bson.TypeInt64:
		set("floatApprox", float64(raw.Int64()))
	case bson.TypeDBPointer:
		ns, id := raw.DBPointer()
		set("ns", ns)
		set("id", e.fromBSON(query.Value{Type: bson.TypeObjectID, Data: id[:]}, 0))
	case bson.TypeCodeWithScope:
		if code, _, ok := v.CodeWithScope(); ok {
			set("code", code)
		}
	}
}

// unbox returns the text and the number of an object's value.
func (e *Engine) unbox(o *goja.Object) (string, float64) {
	v, ok := e.boxOf(o)
	if !ok {
		panic(e.vm.NewTypeError("the object is not a value of BSON"))
	}
	raw := rawOf(v)
	switch v.Type {
	case bson.TypeInt32:
		return strconv.Itoa(int(raw.Int32())), float64(raw.Int32())
	case bson.TypeInt64:
		return strconv.FormatInt(raw.Int64(), 10), float64(raw.Int64())
	case bson.TypeDecimal128:
		text := raw.Decimal128().String()
		n, err := strconv.ParseFloat(text, 64)
		if err != nil && !math.IsInf(n, 0) {
			n = math.NaN()
		}
		return text, n
	}
	return v.String(), math.NaN()
}
