package expr

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var conditionalOperators = []operator{
	{name: "$cond", min: 3, max: 3, parse: parseCond, lazy: cond, optimize: chosen},
	{name: "$ifNull", parse: parseIfNull, lazy: ifNull, optimize: firstKnown},
	{name: "$switch", parse: parseSwitch, lazy: switchCase, optimize: prune},
}

func parseCond(p *parser, op *operator, v Value) (Expression, error) {
	if !v.IsDocument() {
		return positional(p, op, v)
	}
	args := make([]Expression, 3)
	names := map[string]int{"if": 0, "then": 1, "else": 2}
	for _, f := range query.ObjectOf(v.Data) {
		at, ok := names[f.Name]
		if !ok {
			return nil, mongoerr.Errorf(17083, "Unrecognized parameter to $cond: %s", f.Name)
		}
		var err error
		if args[at], err = p.expression(f.Value); err != nil {
			return nil, err
		}
	}
	for i, name := range []string{"if", "then", "else"} {
		if args[i] == nil {
			return nil, mongoerr.Errorf(17080+int32(i), "Missing '%s' parameter to $cond", name)
		}
	}
	return &call{op: op, args: args}, nil
}

// chosen returns the branch of $cond where its condition is constant.
func chosen(o *optimizer, c *call) (Expression, error) {
	if err := o.all(c.args); err != nil {
		return nil, err
	}
	test, ok := c.args[0].(constant)
	switch {
	case !ok:
		return c, nil
	case truth(test.value):
		return c.args[1], nil
	}
	return c.args[2], nil
}

func cond(env *Env, args []Expression) (Value, error) {
	v, err := args[0].Eval(env)
	if err != nil {
		return missing, err
	}
	if truth(v) {
		return args[1].Eval(env)
	}
	return args[2].Eval(env)
}

func parseIfNull(p *parser, op *operator, v Value) (Expression, error) {
	parsed, err := p.arguments(v)
	if err != nil {
		return nil, err
	}
	if len(parsed) < 2 {
		return nil, mongoerr.Errorf(1257300, "$ifNull needs at least two arguments, had: %d", len(parsed))
	}
	return &call{op: op, args: parsed}, nil
}

// firstKnown returns the first argument of $ifNull where it is constant and not null.
func firstKnown(o *optimizer, c *call) (Expression, error) {
	if err := o.all(c.args); err != nil {
		return nil, err
	}
	if first, ok := c.args[0].(constant); ok && !first.value.IsNullish() {
		return first, nil
	}
	return o.evaluated(c, c.args)
}

func ifNull(env *Env, args []Expression) (Value, error) {
	for _, arg := range args[:len(args)-1] {
		v, err := arg.Eval(env)
		if err != nil || !v.IsNullish() {
			return v, err
		}
	}
	return args[len(args)-1].Eval(env)
}

// parseSwitch makes arguments of the branches: case and then in turn, at the end the default if there is one.
func parseSwitch(p *parser, op *operator, v Value) (Expression, error) {
	if !v.IsDocument() {
		return nil, mongoerr.Errorf(40060, "$switch requires an object as an argument, found: %s", typeName(v))
	}
	var args []Expression
	var otherwise Expression
	for _, f := range query.ObjectOf(v.Data) {
		var err error
		switch f.Name {
		case "branches":
			args, err = p.branches(f.Value)
		case "default":
			otherwise, err = p.expression(f.Value)
		default:
			err = mongoerr.Errorf(40067, "$switch found an unknown argument: %s", f.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(args) == 0 {
		return nil, mongoerr.Errorf(40068, "$switch requires at least one branch")
	}
	if otherwise != nil {
		args = append(args, otherwise)
	}
	return &call{op: op, args: args}, nil
}

// prune drops the branches of $switch that are never taken, which are not looked at; what follows one that always is goes
// too.
func prune(o *optimizer, c *call) (Expression, error) {
	n := len(c.args) / 2 * 2
	if err := o.all(c.args[n:]); err != nil { // the default, if there is one
		return nil, err
	}
	var kept []Expression
	for rest := c.args[:n]; len(rest) > 0; rest = rest[2:] {
		test, err := o.expression(rest[0])
		if err != nil {
			return nil, err
		}
		known, ok := test.(constant)
		if ok && !truth(known.value) {
			continue
		}
		then, err := o.expression(rest[1])
		if err != nil {
			return nil, err
		}
		if ok {
			return c.withBranches(kept, then), nil
		}
		kept = append(kept, test, then)
	}
	switch {
	case n < len(c.args):
		return c.withBranches(kept, c.args[n]), nil
	case len(kept) == 0:
		return nil, mongoerr.Errorf(40069, "Cannot execute a switch statement where all the cases evaluate to false without a default")
	}
	return c.withBranches(kept, nil), nil
}

// withBranches returns what a $switch is with its branches and a default if there is one.
func (c *call) withBranches(branches []Expression, otherwise Expression) Expression {
	if otherwise == nil {
		return &call{op: c.op, args: branches}
	}
	if len(branches) == 0 {
		return otherwise
	}
	return &call{op: c.op, args: append(branches, otherwise)}
}

func (p *parser) branches(v Value) ([]Expression, error) {
	if !v.IsArray() {
		return nil, mongoerr.Errorf(40061, "$switch expected an array for 'branches', found: %s", typeName(v))
	}
	var args []Expression
	for _, branch := range query.Elements(v.Data) {
		test, then, err := p.branch(branch)
		if err != nil {
			return nil, err
		}
		args = append(args, test, then)
	}
	return args, nil
}

func (p *parser) branch(v Value) (test, then Expression, err error) {
	if !v.IsDocument() {
		return nil, nil, mongoerr.Errorf(40062, "$switch expected each branch to be an object, found: %s", typeName(v))
	}
	for _, f := range query.ObjectOf(v.Data) {
		switch f.Name {
		case "case":
			test, err = p.expression(f.Value)
		case "then":
			then, err = p.expression(f.Value)
		default:
			err = mongoerr.Errorf(40063, "$switch found an unknown argument to a branch: %s", f.Name)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if test == nil {
		return nil, nil, mongoerr.Errorf(40064, "$switch requires each branch have a 'case' expression")
	}
	if then == nil {
		return nil, nil, mongoerr.Errorf(40065, "$switch requires each branch have a 'then' expression.")
	}
	return test, then, nil
}

func switchCase(env *Env, args []Expression) (Value, error) {
	for len(args) >= 2 {
		v, err := args[0].Eval(env)
		if err != nil {
			return missing, err
		}
		if truth(v) {
			return args[1].Eval(env)
		}
		args = args[2:]
	}
	if len(args) == 1 {
		return args[0].Eval(env)
	}
	return missing, mongoerr.Errorf(40066, "$switch could not find a matching branch for an input, and no default was specified.")
}
