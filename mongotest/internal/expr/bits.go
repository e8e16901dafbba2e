package expr

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var bitOperators = []operator{
	{name: "$bitAnd", max: -1, joins: joinsAll, lazy: folded(query.Int32(-1), bitStep("$bitAnd", func(a, b int64) int64 { return a & b }))},
	{name: "$bitOr", max: -1, joins: joinsAll, lazy: folded(query.Int32(0), bitStep("$bitOr", func(a, b int64) int64 { return a | b }))},
	{name: "$bitXor", max: -1, joins: joinsAll, lazy: folded(query.Int32(0), bitStep("$bitXor", func(a, b int64) int64 { return a ^ b }))},
	numeric("$bitNot", bitNot),
}

func bitStep(name string, op func(a, b int64) int64) func(total, v Value) (Value, error) {
	return func(total, v Value) (Value, error) {
		if !isInteger(v) {
			return missing, mongoerr.Errorf(mongoerr.TypeMismatch, "%s only supports int and long operands.", name)
		}
		return integerValue(op(total.AsInt64(), v.AsInt64()), isLong(total, v)), nil
	}
}

func bitNot(v Value) (Value, error) {
	if !isInteger(v) {
		return missing, mongoerr.Errorf(mongoerr.TypeMismatch, "$bitNot only supports int and long, not: %s.", typeName(v))
	}
	return integerValue(^v.AsInt64(), isLong(v)), nil
}
