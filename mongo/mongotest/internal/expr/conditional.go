package expr

import (
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

var conditionalOperators = []operator{
	{name: "$cond", min: 3, max: 3, parse: parseCond, lazy: cond},
	{name: "$ifNull", parse: parseIfNull, lazy: ifNull},
	{name: "$switch", parse: parseSwitch, lazy: switchCase},
}

func parseCond(p *parser, op *operator, v Value) (Expression, error) {
	if !v.IsDocument() {
		e, err := positional(p, op, v)
		if c, ok := e.(*call); ok {
			return chosen(c, c.args), err
		}
		return e, err
	}
	args := make([]Expression, 3)
	names := map[string]int{"if": 0, "then": 1, "else": 2}
	for _, f := range fieldsOf(v.Data) {
		at, ok := names[f.name]
		if !ok {
			return nil, fail(17083, "Unrecognized parameter to $cond: %s", f.name)
		}
		var err error
		if args[at], err = p.expression(f.value); err != nil {
			return nil, err
		}
	}
	for i, name := range []string{"if", "then", "else"} {
		if args[i] == nil {
			return nil, fail(17080+int32(i), "Missing '%s' parameter to $cond", name)
		}
	}
	return chosen(p.call(op, args), args), nil
}

// chosen returns the branch of $cond where its condition is constant.
func chosen(e Expression, args []Expression) Expression {
	c, ok := args[0].(constant)
	switch {
	case !ok || isConstant(e):
		return e
	case truth(c.value):
		return args[1]
	}
	return args[2]
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
		return nil, fail(1257300, "$ifNull needs at least two arguments, had: %d", len(parsed))
	}
	if c, ok := parsed[0].(constant); ok && !nullish(c.value) {
		return c, nil
	}
	return p.call(op, parsed), nil
}

func ifNull(env *Env, args []Expression) (Value, error) {
	for _, arg := range args[:len(args)-1] {
		v, err := arg.Eval(env)
		if err != nil || !nullish(v) {
			return v, err
		}
	}
	return args[len(args)-1].Eval(env)
}

// parseSwitch makes arguments of the branches: case and then in turn, at the end the default if there is one.
func parseSwitch(p *parser, op *operator, v Value) (Expression, error) {
	if !v.IsDocument() {
		return nil, fail(40060, "$switch requires an object as an argument, found: %s", typeName(v))
	}
	var args []Expression
	var otherwise Expression
	for _, f := range fieldsOf(v.Data) {
		var err error
		switch f.name {
		case "branches":
			args, err = p.branches(f.value)
		case "default":
			otherwise, err = p.expression(f.value)
		default:
			err = fail(40067, "$switch found an unknown argument: %s", f.name)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(args) == 0 {
		return nil, fail(40068, "$switch requires at least one branch")
	}
	if args = p.prune(args, otherwise); len(args) == 1 {
		return args[0], nil // no branch is left but the default
	}
	return p.call(op, args), nil
}

// prune drops the branches that are never taken; what follows one that always is goes too.
func (p *parser) prune(args []Expression, otherwise Expression) []Expression {
	var kept []Expression
	for i := 0; i < len(args); i += 2 {
		c, ok := args[i].(constant)
		switch {
		case !ok:
			kept = append(kept, args[i], args[i+1])
		case truth(c.value):
			return append(kept, args[i+1])
		}
	}
	if otherwise != nil {
		return append(kept, otherwise)
	}
	if len(kept) == 0 && p.constantError == nil {
		p.constantError = fail(40069, "Cannot execute a switch statement where all the cases evaluate to false without a default")
	}
	return kept
}

func (p *parser) branches(v Value) ([]Expression, error) {
	if !v.IsArray() {
		return nil, fail(40061, "$switch expected an array for 'branches', found: %s", typeName(v))
	}
	var args []Expression
	taken := false
	for _, branch := range query.Elements(v.Data) {
		before := p.constantError
		test, then, err := p.branch(branch)
		if err != nil {
			return nil, err
		}
		c, ok := test.(constant)
		if taken || ok && !truth(c.value) {
			p.constantError = before // the branch is never looked at
		}
		taken = taken || ok && truth(c.value)
		args = append(args, test, then)
	}
	return args, nil
}

func (p *parser) branch(v Value) (test, then Expression, err error) {
	if !v.IsDocument() {
		return nil, nil, fail(40062, "$switch expected each branch to be an object, found: %s", typeName(v))
	}
	for _, f := range fieldsOf(v.Data) {
		switch f.name {
		case "case":
			test, err = p.expression(f.value)
		case "then":
			then, err = p.expression(f.value)
		default:
			err = fail(40063, "$switch found an unknown argument to a branch: %s", f.name)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if test == nil {
		return nil, nil, fail(40064, "$switch requires each branch have a 'case' expression")
	}
	if then == nil {
		return nil, nil, fail(40065, "$switch requires each branch have a 'then' expression.")
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
	return missing, fail(40066, "$switch could not find a matching branch for an input, and no default was specified.")
}
