package expr

var booleanOperators = []operator{
	{name: "$and", max: -1, parse: decided(false), lazy: and},
	{name: "$or", max: -1, parse: decided(true), lazy: or},
	{name: "$not", min: 1, max: 1, apply: func(args []Value) (Value, error) { return boolean(!truth(args[0])), nil }},
}

// decided is positional, but a constant argument that has the wanted truth is the result, whatever the others are.
func decided(wanted bool) func(*parser, *operator, Value) (Expression, error) {
	return func(p *parser, op *operator, v Value) (Expression, error) {
		e, err := positional(p, op, v)
		c, ok := e.(*call)
		if err != nil || !ok {
			return e, err
		}
		for _, arg := range c.args {
			if known, ok := arg.(constant); ok && truth(known.value) == wanted {
				return constant{boolean(wanted)}, nil
			}
		}
		return e, nil
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
