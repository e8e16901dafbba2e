package explain

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// typeNumbers are the numbers of the types that have a name.
var typeNumbers = map[string]bson.Type{
	"double": bson.TypeDouble, "string": bson.TypeString, "object": bson.TypeEmbeddedDocument, "array": bson.TypeArray,
	"binData": bson.TypeBinary, "undefined": bson.TypeUndefined, "objectId": bson.TypeObjectID, "bool": bson.TypeBoolean,
	"date": bson.TypeDateTime, "null": bson.TypeNull, "regex": bson.TypeRegex, "dbPointer": bson.TypeDBPointer,
	"javascript": bson.TypeJavaScript, "symbol": bson.TypeSymbol, "javascriptWithScope": bson.TypeCodeWithScope, "int": bson.TypeInt32,
	"timestamp": bson.TypeTimestamp, "long": bson.TypeInt64, "decimal": bson.TypeDecimal128,
}

// written returns the value of an operator as the parsed query has it.
func written(op string, v query.Value) query.Value {
	list := []query.Value{v}
	if v.IsArray() {
		list = query.Elements(v.Data)
	}
	switch op {
	case "$mod":
		for i := range list {
			n, _ := list[i].Rounded()
			list[i] = query.Int64(n)
		}
	case "$type":
		list = typeList(list)
	default:
		if !v.IsNumber() {
			return v
		}
		list = positions(v)
	}
	return arrayOf(list)
}

// typeList returns types by their numbers, those of all numbers first.
func typeList(list []query.Value) []query.Value {
	var out []query.Value
	for _, v := range list {
		n, ok := v.Integer()
		t := bson.Type(n)
		if !ok {
			if t, ok = typeNumbers[string(v.Text())]; !ok {
				out = append([]query.Value{v}, out...)
				continue
			}
		}
		number := int32(t)
		if number == 255 {
			number = -1
		}
		out = append(out, query.Int32(number))
	}
	return out
}

// positions returns the places of the bits that a mask has.
func positions(mask query.Value) []query.Value {
	n, _ := mask.Integer()
	var out []query.Value
	for i := range int32(64) {
		if n&(1<<i) != 0 {
			out = append(out, query.Int32(i))
		}
	}
	return out
}

func arrayOf(list []query.Value) query.Value {
	return query.Value{Type: bson.TypeArray, Data: document(func(dst []byte) []byte {
		for i, v := range slices.All(list) {
			dst = wire.AppendValue(dst, wire.ArrayKey(i), v.Type, v.Data)
		}
		return dst
	})}
}
