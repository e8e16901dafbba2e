package expr

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// accumulatorOperators are the accumulators that are expressions too: of their arguments, or of the elements of the only
// one if it is an array.
var accumulatorOperators = []operator{
	joined(overArguments("$sum")), overArguments("$avg"), joined(overArguments("$min")), joined(overArguments("$max")),
	overArguments("$stdDevPop"), overArguments("$stdDevSamp"),
	{name: "$median", parse: parsePercentiles},
	{name: "$percentile", parse: parsePercentiles},
}

// joined is an operator whose order of arguments does not matter, but for how a sum is rounded, and which of two equal values it gives.
func joined(op operator) operator {
	op.joins = joinsAll
	return op
}

func overArguments(name string) operator {
	return operator{name: name, max: -1, long: func(env *Env, args []Value) (Value, error) {
		if len(args) == 1 && args[0].IsArray() {
			args = query.Elements(args[0].Data)
		}
		return collect(env, accumulators[name](), args)
	}}
}

func collect(env *Env, c collector, values []Value) (Value, error) {
	c = env.collated(c)
	for _, v := range values {
		if err := env.Work.Do(1); err != nil {
			return missing, err
		}
		if err := c.add(v); err != nil {
			return missing, err
		}
	}
	return c.result(), nil
}

// overElements applies an accumulator to the elements of its input, or to the input itself if it is no array.
type overElements struct {
	input Expression
	start func() collector
}

func parsePercentiles(p *parser, op *operator, v Value) (Expression, error) {
	if !v.IsDocument() {
		code := int32(7436200)
		if op.name == "$median" {
			code = 7436201
		}
		return nil, mongoerr.Errorf(code, "specification must be an object; found %s", elementText(op.name, v))
	}
	input, start, err := p.percentiles(op.name, v)
	if err != nil {
		return nil, err
	}
	return &overElements{input, start}, nil
}

func (o *overElements) Eval(env *Env) (Value, error) {
	v, err := o.input.Eval(env)
	if err != nil {
		return missing, err
	}
	values := []Value{v}
	if v.IsArray() {
		values = query.Elements(v.Data)
	}
	return collect(env, o.start(), values)
}
