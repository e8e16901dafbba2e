package expr

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var comparisonOperators = []operator{
	{name: "$cmp", min: 2, max: 2, rightFirst: true, long: func(env *Env, args []Value) (Value, error) {
		return query.Int32(int32(env.compare(args[0], args[1]))), nil
	}},
	compared("$eq", func(c int) bool { return c == 0 }),
	compared("$ne", func(c int) bool { return c != 0 }),
	compared("$gt", func(c int) bool { return c > 0 }),
	compared("$gte", func(c int) bool { return c >= 0 }),
	compared("$lt", func(c int) bool { return c < 0 }),
	compared("$lte", func(c int) bool { return c <= 0 }),
}

func compared(name string, holds func(c int) bool) operator {
	return operator{name: name, min: 2, max: 2, rightFirst: true, long: func(env *Env, args []Value) (Value, error) {
		return boolean(holds(env.compare(args[0], args[1]))), nil
	}}
}
