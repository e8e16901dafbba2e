package expr

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// reduceLoop is $reduce: a loop whose body sees the value so far.
type reduceLoop struct {
	loop
	initial Expression
	value   int
}

func parseReduce(p *parser, _ *operator, v Value) (Expression, error) {
	args, err := named(v, refusal{40075, "$reduce requires an object as an argument, found: %[2]s"},
		refusal{40076, "$reduce found an unknown argument: %[2]s"}, "input", "initialValue", "in", "as", "valueAs", "arrayIndexAs")
	if err != nil {
		return nil, err
	}
	for i, name := range []string{"input", "initialValue", "in"} {
		if args[name].Missing() {
			return nil, mongoerr.Errorf(40077+int32(i), "$reduce requires '%s' to be specified", name)
		}
	}
	return p.reduce(args)
}

// reduce parses the body first, like the real server.
func (p *parser) reduce(args map[string]Value) (Expression, error) {
	r := &reduceLoop{}
	value := "value"
	if as, ok := args["valueAs"]; ok {
		value = string(as.Text())
		if err := checkVariable(value); err != nil {
			return nil, err
		}
	}
	outer := p.scope
	p.scope = outer.with(value)
	r.value = p.scope.slot
	scope, err := r.variables(p, loopNames{args["as"], args["arrayIndexAs"]})
	p.scope = outer
	if err != nil {
		return nil, err
	}
	if r.body, err = p.within(scope, args["in"]); err != nil {
		return nil, err
	}
	if r.initial, err = p.expression(args["initialValue"]); err != nil {
		return nil, err
	}
	r.input, err = p.expression(args["input"])
	return r, err
}

func (r *reduceLoop) Eval(env *Env) (Value, error) {
	elements, ok, err := r.elements(env, func(v Value) error {
		return mongoerr.Errorf(40080, "$reduce requires that 'input' be an array, found: %s", spelled(v))
	})
	if err != nil || !ok {
		return null, err
	}
	value, err := r.initial.Eval(env)
	if err != nil {
		return missing, err
	}
	env.bind(r.value, value)
	err = r.each(env, elements, func(_, v Value) bool {
		value = v
		env.bind(r.value, v)
		return false
	})
	return value, err
}

func (r *reduceLoop) optimized(o *optimizer) (_ Expression, err error) {
	if r.input, err = o.expression(r.input); err != nil {
		return nil, err
	}
	if r.initial, err = o.expression(r.initial); err != nil {
		return nil, err
	}
	r.body, err = o.expression(r.body)
	return r, err
}
