package expr

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var variableOperators = []operator{
	{name: "$literal", parse: parseLiteral},
	{name: "$const", parse: parseLiteral},
	{name: "$expr", parse: func(p *parser, _ *operator, v Value) (Expression, error) { return p.expression(v) }},
	{name: "$let", parse: parseLet},
	{name: "$map", parse: parseMap},
	{name: "$filter", parse: parseFilter},
	{name: "$reduce", parse: parseReduce},
	{name: "$rand", parse: parseRand, lazy: random, optimize: late},
	{name: "$currentDate", parse: parseCurrentDate, lazy: currentDate, optimize: late},
	{name: "$createObjectId", parse: parseCreateObjectID, lazy: createObjectID, optimize: late},
}

func parseLiteral(_ *parser, _ *operator, v Value) (Expression, error) { return constant{v}, nil }

// let evaluates its body with variables, each in a slot of its own.
type let struct {
	first  int
	values []Expression
	body   Expression
}

func (l *let) Eval(env *Env) (Value, error) {
	values, err := evalAll(env, l.values)
	if err != nil {
		return missing, err
	}
	for i, v := range values {
		env.bind(l.first+i, v)
	}
	return l.body.Eval(env)
}

func parseLet(p *parser, _ *operator, v Value) (Expression, error) {
	if !v.IsDocument() {
		return nil, mongoerr.Errorf(16874, "$let only supports an object as its argument")
	}
	var vars, in Value
	for _, f := range query.ObjectOf(v.Data) {
		switch f.Name {
		case "vars":
			if vars = f.Value; !vars.IsDocument() {
				return nil, mongoerr.Errorf(10065, "invalid parameter: expected an object (vars)")
			}
		case "in":
			in = f.Value
		default:
			return nil, mongoerr.Errorf(16875, "Unrecognized parameter to $let: %s", f.Name)
		}
	}
	if vars.Missing() {
		return nil, mongoerr.Errorf(16876, "Missing 'vars' parameter to $let")
	}
	if in.Missing() {
		return nil, mongoerr.Errorf(16877, "Missing 'in' parameter to $let")
	}
	return p.let(query.ObjectOf(vars.Data), in)
}

func (p *parser) let(vars object, in Value) (Expression, error) {
	l := &let{first: p.scope.size()}
	scope := p.scope
	for _, f := range vars {
		e, err := p.expression(f.Value)
		if err != nil {
			return nil, err
		}
		if err := checkVariable(f.Name); err != nil {
			return nil, err
		}
		scope = scope.with(f.Name)
		l.values = append(l.values, e)
	}
	var err error
	l.body, err = p.within(scope, in)
	return l, err
}

func (l *let) optimized(o *optimizer) (Expression, error) {
	if err := o.all(l.values); err != nil {
		return nil, err
	}
	for i, e := range l.values {
		if c, ok := e.(constant); ok {
			o.known[l.first+i] = c.value
			defer delete(o.known, l.first+i)
		}
	}
	var err error
	if l.body, err = o.expression(l.body); err != nil || isConstant(l.body) {
		return l.body, err
	}
	slots := make(map[int]bool)
	used(l.body, slots)
	for i := range l.values {
		if !slots[l.first+i] {
			l.values[i] = constant{missing} // it is not evaluated
		}
	}
	return l, nil
}

func parseRand(_ *parser, op *operator, v Value) (Expression, error) {
	if !v.IsDocument() && !v.IsArray() {
		return nil, mongoerr.Errorf(10065, "invalid parameter: expected an object ($rand)")
	}
	if query.Count(v.Data) > 0 {
		return nil, mongoerr.Errorf(3040501, "$rand does not currently accept arguments")
	}
	return &call{op: op}, nil
}

func random(env *Env, _ []Expression) (Value, error) {
	if env.Rand == nil {
		return missing, mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: $rand has no source of randomness here")
	}
	return query.Double(env.Rand()), nil
}

func parseCurrentDate(_ *parser, op *operator, v Value) (Expression, error) {
	if !v.IsDocument() && !v.IsArray() {
		return nil, mongoerr.Errorf(10065, "invalid parameter: expected an object ($currentDate)")
	}
	if query.Count(v.Data) > 0 {
		return nil, mongoerr.Errorf(9428201, "$currentDate does not currently accept arguments")
	}
	return &call{op: op}, nil
}

func currentDate(env *Env, _ []Expression) (Value, error) { return date(env.Now), nil }

func parseCreateObjectID(_ *parser, op *operator, v Value) (Expression, error) {
	if !v.IsDocument() || query.Count(v.Data) > 0 {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse,
			"$createObjectId only accepts the empty object as argument. To convert a value to an ObjectId, use $toObjectId.")
	}
	return &call{op: op}, nil
}

func createObjectID(env *Env, _ []Expression) (Value, error) {
	if env.NewID == nil {
		return missing, mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: $createObjectId has no source of ids here")
	}
	return objectID(env.NewID()), nil
}
