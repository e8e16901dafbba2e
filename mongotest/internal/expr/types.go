package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var typeOperators = []operator{
	{name: "$type", min: 1, max: 1, apply: func(args []Value) (Value, error) { return query.Text(typeName(args[0])), nil }},
	{name: "$isNumber", min: 1, max: 1, apply: func(args []Value) (Value, error) { return boolean(args[0].IsNumber()), nil }},
	{name: "$binarySize", min: 1, max: 1, apply: binarySize},
	{name: "$bsonSize", min: 1, max: 1, apply: bsonSize},
	{name: "$subtype", min: 1, max: 1, apply: subtype},
}

func binarySize(args []Value) (Value, error) {
	v := args[0]
	switch {
	case v.IsNullish():
		return null, nil
	case v.IsString():
		return query.Int32(int32(len(v.Text()))), nil
	case v.Type == bson.TypeBinary:
		return query.Int32(int32(len(v.Data) - 5)), nil
	}
	return missing, mongoerr.Errorf(51276, "$binarySize requires a string or BinData argument, found: %s", typeName(v))
}

func bsonSize(args []Value) (Value, error) {
	if args[0].IsNullish() {
		return null, nil
	}
	if !args[0].IsDocument() {
		return missing, mongoerr.Errorf(31393, "$bsonSize requires a document input, found: %s", typeName(args[0]))
	}
	return query.Int32(int32(len(query.Plain(args[0].Data)))), nil
}

func subtype(args []Value) (Value, error) {
	if args[0].IsNullish() {
		return null, nil
	}
	if args[0].Type != bson.TypeBinary {
		return missing, mongoerr.Errorf(10389300, "Provided value: %s, does not have a subtype, but $subtype was used.", spelled(args[0]))
	}
	return query.Int32(int32(args[0].Data[4])), nil
}
