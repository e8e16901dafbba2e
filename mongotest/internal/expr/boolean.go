package expr

import "github.com/holdfast-db/holdfast/mongotest/internal/query"

var booleanOperators = []operator{
	{name: "$and", max: -1, lazy: and, optimize: decided(false)},
	{name: "$or", max: -1, lazy: or, optimize: decided(true)},
	{name: "$not", min: 1, max: 1, apply: func(args []Value) (Value, error) { return boolean(!truth(args[0])), nil }},
}

// decided finds a constant argument that has the wanted truth: it is the result, whatever the others are.
func decided(wanted bool) func(*optimizer, *call) (Expression, error) {
	return func(o *optimizer, c *call) (Expression, error) {
		if err := o.all(c.args); err != nil {
			return nil, err
		}
		for _, arg := range c.args {
			if known, ok := arg.(constant); ok && truth(known.value) == wanted {
				return constant{boolean(wanted)}, nil
			}
		}
		return o.evaluated(c, c.args)
	}
}

func and(env *Env, args []Expression) (Value, error) { return firstThatIs(env, args, false) }

func or(env *Env, args []Expression) (Value, error) { return firstThatIs(env, args, true) }

// firstThatIs evaluates until an argument has the wanted truth, which is then the result.
func firstThatIs(env *Env, args []Expression, wanted bool) (Value, error) {
	for _, arg := range args {
		v, err := arg.Eval(env)
		if err != nil {
			return missing, err
		}
		if truth(v) == wanted {
			return boolean(wanted), nil
		}
	}
	return boolean(!wanted), nil
}

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
