package expr

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// filterLoop is $filter.
type filterLoop struct {
	loop
	limit Expression
}

func parseFilter(p *parser, _ *operator, v Value) (Expression, error) {
	args, err := named(v, refusal{28646, "$filter only supports an object as its argument"},
		refusal{28647, "Unrecognized parameter to $filter: %[2]s"}, "input", "as", "cond", "limit", "arrayIndexAs")
	if err != nil {
		return nil, err
	}
	f := &filterLoop{}
	if limit, ok := args["limit"]; ok && !args["input"].Missing() && !args["cond"].Missing() {
		if f.limit, err = p.expression(limit); err != nil {
			return nil, err
		}
	}
	err = f.parse(p, args, loopParts{
		input:    refusal{28648, "Missing 'input' parameter to $filter"},
		bodyName: "cond", body: refusal{28650, "Missing 'cond' parameter to $filter"},
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (f *filterLoop) Eval(env *Env) (Value, error) {
	elements, ok, err := f.elements(env, func(v Value) error {
		return mongoerr.Errorf(28651, "input to $filter must be an array not %s", typeName(v))
	})
	if err != nil || !ok {
		return null, err
	}
	if len(elements) == 0 {
		return array(nil), nil
	}
	limit, err := f.most(env, len(elements))
	if err != nil {
		return missing, err
	}
	var kept []Value
	err = f.each(env, elements, func(e, v Value) bool {
		if truth(v) {
			kept = append(kept, e)
		}
		return len(kept) == limit
	})
	if err != nil {
		return missing, err
	}
	return env.pay(array(kept))
}

// most returns how many elements to keep.
func (f *filterLoop) most(env *Env, all int) (int, error) {
	if f.limit == nil {
		return max(all, 1), nil
	}
	v, err := f.limit.Eval(env)
	if err != nil || v.IsNullish() {
		return max(all, 1), err
	}
	n, ok := asIndex(v)
	if !v.IsNumber() || !ok {
		return 0, mongoerr.Errorf(327391, "$filter: limit must be represented as a 32-bit integral value: %s", spelled(v))
	}
	if n <= 0 {
		return 0, mongoerr.Errorf(327392, "$filter: limit must be greater than 0: %d", n)
	}
	return n, nil
}

func (f *filterLoop) optimized(o *optimizer) (_ Expression, err error) {
	if err = f.optimize(o); err == nil && f.limit != nil {
		f.limit, err = o.expression(f.limit)
	}
	return f, err
}
