package javascript

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"

	"github.com/dop251/goja"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// box makes an object stand for a BSON value: what the constructors (NumberLong, ObjectId ...) do with their arguments.
func (e *Engine) box(o *goja.Object, kind string, args ...goja.Value) {
	arg := func(i int) goja.Value {
		if i < len(args) {
			return args[i]
		}
		return goja.Undefined()
	}
	constructor, ok := boxes[kind]
	if !ok {
		panic(e.vm.NewTypeError("there is no type " + kind))
	}
	v, problem := constructor(e, arg)
	if problem != "" {
		panic(e.vm.NewTypeError(problem))
	}
	e.hide(o, e.boxed, v)
	e.describe(o, v)
}

// boxes make a BSON value of a constructor's arguments, or return what is wrong with them.
var boxes = map[string]func(e *Engine, arg func(int) goja.Value) (query.Value, string){
	"NumberInt": func(e *Engine, arg func(int) goja.Value) (query.Value, string) {
		n, problem := e.whole(arg(0), "NumberInt")
		return query.Int32(int32(min(max(n, math.MinInt32), math.MaxInt32))), problem
	},
	"NumberLong": func(e *Engine, arg func(int) goja.Value) (query.Value, string) {
		n, problem := e.whole(arg(0), "NumberLong")
		return query.Int64(n), problem
	},
	"NumberDecimal": func(_ *Engine, arg func(int) goja.Value) (query.Value, string) {
		text := "0"
		if v := arg(0); !goja.IsUndefined(v) {
			text = v.String()
		}
		d, err := bson.ParseDecimal128(text)
		if err != nil {
			return query.Value{}, "Input is not a valid Decimal128 value."
		}
		return raw(d), ""
	},
	"ObjectId": func(_ *Engine, arg func(int) goja.Value) (query.Value, string) {
		if goja.IsUndefined(arg(0)) {
			return raw(bson.NewObjectID()), ""
		}
		id, err := bson.ObjectIDFromHex(arg(0).String())
		if err != nil {
			return query.Value{}, "invalid object id: length"
		}
		return raw(id), ""
	},
	"BinData": func(_ *Engine, arg func(int) goja.Value) (query.Value, string) {
		data, err := base64.StdEncoding.DecodeString(arg(1).String())
		return binary(arg(0), data, err, "BinData")
	},
	"HexData": func(_ *Engine, arg func(int) goja.Value) (query.Value, string) {
		data, err := hex.DecodeString(arg(1).String())
		return binary(arg(0), data, err, "HexData")
	},
	"Timestamp": func(_ *Engine, arg func(int) goja.Value) (query.Value, string) {
		for i := range 2 {
			if n := arg(i); !goja.IsUndefined(n) && (n.ToFloat() < 0 || n.ToFloat() > math.MaxUint32) {
				return query.Value{}, "Timestamp time and increment must be between 0 and 4294967295"
			}
		}
		return raw(bson.Timestamp{T: uint32(arg(0).ToInteger()), I: uint32(arg(1).ToInteger())}), ""
	},
	"MinKey": func(*Engine, func(int) goja.Value) (query.Value, string) {
		return query.Value{Type: bson.TypeMinKey}, ""
	},
	"MaxKey": func(*Engine, func(int) goja.Value) (query.Value, string) {
		return query.Value{Type: bson.TypeMaxKey}, ""
	},
	"DBPointer": func(e *Engine, arg func(int) goja.Value) (query.Value, string) {
		id := query.Value{}
		if o, ok := arg(1).(*goja.Object); ok {
			id, _ = e.boxOf(o)
		}
		if id.Type != bson.TypeObjectID {
			return query.Value{}, "DBPointer 2nd parameter must be an ObjectId"
		}
		return raw(bson.DBPointer{DB: arg(0).String(), Pointer: bson.ObjectID(id.Data)}), ""
	},
	"Code": func(_ *Engine, arg func(int) goja.Value) (query.Value, string) {
		return raw(bson.JavaScript(arg(0).String())), ""
	},
}

func binary(subtype goja.Value, data []byte, err error, name string) (query.Value, string) {
	n := subtype.ToInteger()
	switch {
	case n < 0 || n > 255:
		return query.Value{}, name + " subtype must be between 0 and 255"
	case err != nil:
		return query.Value{}, name + " has a text that is not valid: " + err.Error()
	}
	return raw(bson.Binary{Subtype: byte(n), Data: data}), ""
}

// whole reads the argument of NumberInt and NumberLong: a number, a text, or another number of BSON.
func (e *Engine) whole(v goja.Value, name string) (int64, string) {
	if goja.IsUndefined(v) {
		return 0, ""
	}
	if o, ok := v.(*goja.Object); ok {
		if b, is := e.boxOf(o); is && b.Type == bson.TypeInt64 {
			return b.AsInt64(), ""
		}
	}
	if text, ok := v.Export().(string); ok {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, name + " could not be read from the text \"" + text + "\""
		}
		return n, ""
	}
	f := v.ToFloat()
	switch {
	case math.IsNaN(f):
		return 0, ""
	case f >= math.MaxInt64:
		return math.MaxInt64, ""
	case f <= math.MinInt64:
		return math.MinInt64, ""
	}
	return int64(f), ""
}
