package expr

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var setOperators = []operator{
	{name: "$setUnion", max: -1, joins: joinsAll, lazy: setUnion},
	{name: "$setIntersection", max: -1, joins: joinsAll, lazy: setIntersection},
	{name: "$setDifference", min: 2, max: 2, long: setDifference},
	{name: "$setEquals", parse: parseSetEquals, lazy: setEquals, optimize: checkedSets},
	{name: "$setIsSubset", min: 2, max: 2, lazy: setIsSubset, optimize: checkedSubset},
	{name: "$allElementsTrue", min: 1, max: 1, apply: elementsTrue("$allElementsTrue", 17040, true)},
	{name: "$anyElementTrue", min: 1, max: 1, apply: elementsTrue("$anyElementTrue", 17041, false)},
}

// set is a sorted list of distinct values.
type set []Value

func (e *Env) setOf(elements []Value) (set, error) {
	s := slices.Clone(elements)
	err := query.SortStable(e.Work, s, e.compare)
	return slices.CompactFunc(s, e.equal), err
}

func (s set) has(env *Env, v Value) bool {
	_, found := slices.BinarySearchFunc(s, v, env.compare)
	return found
}

func setUnion(env *Env, args []Expression) (Value, error) {
	return combine(env, args, 17043, "$setUnion", func(all set, elements []Value) (set, error) { return append(all, elements...), nil })
}

func setIntersection(env *Env, args []Expression) (Value, error) {
	return combine(env, args, 17047, "$setIntersection", func(all set, elements []Value) (set, error) {
		other, err := env.setOf(elements)
		if err != nil {
			return nil, err
		}
		if len(other) < len(all) {
			all, other = other, all // of elements that are equal, such as 1 and 1.0, that of the smaller set is given
		}
		all = slices.DeleteFunc(all, func(v Value) bool { return !other.has(env, v) })
		return all, env.Work.Do(len(all) + len(other))
	})
}

// combine joins the arguments from the left; null ends it with null.
func combine(env *Env, args []Expression, code int32, name string, join func(set, []Value) (set, error)) (Value, error) {
	var all set
	isNull, first := false, true
	err := eachArg(env, args, func(v Value) (bool, error) {
		if isNull = v.IsNullish(); isNull {
			return true, nil
		}
		if !v.IsArray() {
			return false, mongoerr.Errorf(code, "All operands of %s must be arrays. One argument is of type: %s", name, typeName(v))
		}
		elements := query.Elements(v.Data)
		var err error
		if first {
			all, err = env.setOf(elements)
			first = false
		} else {
			all, err = join(all, elements)
		}
		return false, err
	})
	if err != nil {
		return missing, err
	}
	if isNull {
		return null, nil
	}
	all, err = env.setOf(all)
	return array(all), err
}

func setDifference(env *Env, args []Value) (Value, error) {
	a, b := args[0], args[1]
	switch {
	case a.IsNullish() || b.IsNullish():
		return null, nil
	case !a.IsArray():
		return missing, mongoerr.Errorf(17048, "both operands of $setDifference must be arrays. First argument is of type: %s", typeName(a))
	case !b.IsArray():
		return missing, mongoerr.Errorf(17049, "both operands of $setDifference must be arrays. Second argument is of type: %s", typeName(b))
	}
	var without query.ValueSet
	for _, v := range query.Elements(b.Data) {
		without.Add(query.Keyed(env.Collation, v))
		if err := env.Work.Do(1); err != nil {
			return missing, err
		}
	}
	var kept []Value
	for _, v := range query.Elements(a.Data) {
		if without.Add(query.Keyed(env.Collation, v)) {
			kept = append(kept, v)
		}
		if err := env.Work.Do(1); err != nil {
			return missing, err
		}
	}
	return array(kept), nil
}

func parseSetEquals(p *parser, op *operator, v Value) (Expression, error) {
	parsed, err := p.arguments(v)
	if err != nil {
		return nil, err
	}
	if len(parsed) < 2 {
		return nil, mongoerr.Errorf(17045, "$setEquals needs at least two arguments had: %d", len(parsed))
	}
	return &call{op: op, args: parsed}, nil
}

// checkedSets finds a constant argument of $setEquals that is no array, for which the real server has a code of its own.
func checkedSets(o *optimizer, c *call) (Expression, error) {
	for i := range c.args {
		arg, err := o.expression(c.args[i])
		if err != nil {
			return nil, err
		}
		if known, ok := arg.(constant); ok && !known.value.IsArray() {
			return nil, mongoerr.Errorf(5887502, setEqualsType, i+1, typeName(known.value))
		}
		c.args[i] = arg
	}
	return c, nil
}

const setEqualsType = "All operands of $setEquals must be arrays. %d-th argument is of type: %s"

func setEquals(env *Env, args []Expression) (Value, error) {
	var first set
	equal, n := true, 0
	err := eachArg(env, args, func(v Value) (bool, error) {
		n++
		if !v.IsArray() {
			return false, mongoerr.Errorf(17044, setEqualsType, n, typeName(v))
		}
		s, err := env.setOf(query.Elements(v.Data))
		if err != nil {
			return false, err
		}
		if n == 1 {
			first = s
		}
		equal = slices.EqualFunc(first, s, env.equal)
		return !equal, nil
	})
	return boolean(equal), err
}

// checkedSubset finds a constant second argument of $setIsSubset that is no array, for which the real server has a code of
// its own.
func checkedSubset(o *optimizer, c *call) (Expression, error) {
	if err := o.all(c.args); err != nil {
		return nil, err
	}
	if whole, ok := c.args[1].(constant); ok && !isConstant(c.args[0]) && !whole.value.IsArray() {
		return nil, mongoerr.Errorf(17311, "both operands of $setIsSubset must be arrays. Second argument is of type: %s", typeName(whole.value))
	}
	return o.evaluated(c, c.args)
}

func setIsSubset(env *Env, args []Expression) (Value, error) {
	a, err := args[0].Eval(env)
	if err != nil {
		return missing, err
	}
	if !a.IsArray() {
		return missing, mongoerr.Errorf(17046, "both operands of $setIsSubset must be arrays. First argument is of type: %s", typeName(a))
	}
	b, err := args[1].Eval(env)
	if err != nil {
		return missing, err
	}
	if !b.IsArray() {
		return missing, mongoerr.Errorf(17042, "both operands of $setIsSubset must be arrays. Second argument is of type: %s", typeName(b))
	}
	whole, err := env.setOf(query.Elements(b.Data))
	if err != nil {
		return missing, err
	}
	for _, v := range query.Elements(a.Data) {
		if !whole.has(env, v) {
			return no, nil
		}
		if err := env.Work.Do(1); err != nil {
			return missing, err
		}
	}
	return yes, nil
}

func elementsTrue(name string, code int32, all bool) func([]Value) (Value, error) {
	return func(args []Value) (Value, error) {
		if !args[0].IsArray() {
			return missing, mongoerr.Errorf(code, "%s's argument must be an array, but is %s", name, typeName(args[0]))
		}
		other := slices.ContainsFunc(query.Elements(args[0].Data), func(v Value) bool { return truth(v) != all })
		return boolean(other != all), nil
	}
}
