package expr

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var arrayOperators = []operator{
	{name: "$arrayElemAt", min: 2, max: 2, long: arrayElemAt},
	{name: "$first", min: 1, max: 1, long: endElement("$first", 0)},
	{name: "$last", min: 1, max: 1, long: endElement("$last", -1)},
	{name: "$size", min: 1, max: 1, long: size},
	{name: "$isArray", min: 1, max: 1, apply: func(args []Value) (Value, error) { return boolean(args[0].IsArray()), nil }},
	{name: "$concatArrays", max: -1, joins: joinsAdjacent, lazy: concatArrays},
	{name: "$in", min: 2, max: 2, long: in},
	{name: "$indexOfArray", min: 2, max: 4, lazy: indexOfArray, optimize: checkedArray},
	{name: "$range", min: 2, max: 3, lazy: rangeOf},
	{name: "$reverseArray", min: 1, max: 1, apply: reverseArray},
	{name: "$slice", min: 2, max: 3, lazy: slice},
	{name: "$zip", parse: parseZip},
	{name: "$sortArray", parse: parseSortArray},
}

func arrayElemAt(env *Env, args []Value) (Value, error) {
	a, at := args[0], args[1]
	if a.IsNullish() || at.IsNullish() {
		return null, nil
	}
	if !a.IsArray() {
		return missing, mongoerr.Errorf(28689, "$arrayElemAt's first argument must be an array, but is %s", typeName(a))
	}
	if !at.IsNumber() {
		return missing, mongoerr.Errorf(28690, "$arrayElemAt's second argument must be a numeric value, but is %s", typeName(at))
	}
	n, ok := asIndex(at)
	if !ok {
		return missing, mongoerr.Errorf(28691, "$arrayElemAt's second argument must be representable as a 32-bit integer: %s",
			sixDigits(at.AsFloat64()))
	}
	return elementAt(env.elements(a), n), nil
}

// elementAt returns an element, counted from the end if n is negative.
func elementAt(elements []Value, n int) Value {
	if n < 0 {
		n += len(elements)
	}
	if n < 0 || n >= len(elements) {
		return missing
	}
	return elements[n]
}

func endElement(name string, at int) func(*Env, []Value) (Value, error) {
	return func(env *Env, args []Value) (Value, error) {
		if args[0].IsNullish() {
			return null, nil
		}
		if !args[0].IsArray() {
			return missing, mongoerr.Errorf(28689, "%s's argument must be an array, but is %s", name, typeName(args[0]))
		}
		return elementAt(env.elements(args[0]), at), nil
	}
}

func size(env *Env, args []Value) (Value, error) {
	if !args[0].IsArray() {
		return missing, mongoerr.Errorf(17124, "The argument to $size must be an array, but was of type: %s", typeName(args[0]))
	}
	return query.Int32(int32(env.count(args[0]))), nil
}

func concatArrays(env *Env, args []Expression) (Value, error) {
	var all []Value
	isNull := false
	err := eachArg(env, args, func(v Value) (bool, error) {
		if isNull = v.IsNullish(); isNull {
			return true, nil
		}
		if !v.IsArray() {
			return false, mongoerr.Errorf(28664, "$concatArrays only supports arrays, not %s", typeName(v))
		}
		all = append(all, query.Elements(v.Data)...)
		return false, nil
	})
	if err != nil {
		return missing, err
	}
	if isNull {
		return null, nil
	}
	return array(all), nil
}

func in(env *Env, args []Value) (Value, error) {
	if !args[1].IsArray() {
		return missing, mongoerr.Errorf(40081, "$in requires an array as a second argument, found: %s", typeName(args[1]))
	}
	for _, e := range env.elements(args[1]) {
		if env.equal(e, args[0]) {
			return yes, nil
		}
		if err := env.Work.Do(1); err != nil {
			return missing, err
		}
	}
	return no, nil
}

// checkedArray finds a constant first argument of $indexOfArray that is no array, for which the real server has a code of
// its own.
func checkedArray(o *optimizer, c *call) (Expression, error) {
	if err := o.all(c.args); err != nil {
		return nil, err
	}
	e, err := o.evaluated(c, c.args)
	if a, ok := c.args[0].(constant); ok && e == c && !a.value.IsArray() && !a.value.IsNullish() {
		return nil, mongoerr.Errorf(50809, "First operand of $indexOfArray must be an array. First argument is of type: %s", typeName(a.value))
	}
	return e, err
}

func indexOfArray(env *Env, args []Expression) (Value, error) {
	a, err := args[0].Eval(env)
	if err != nil || a.IsNullish() {
		return null, err
	}
	if !a.IsArray() {
		return missing, mongoerr.Errorf(40090, "$indexOfArray requires an array as a first argument, found: %s", typeName(a))
	}
	elements := env.elements(a)
	codes := boundCodes{notInteger: 9711600, negative: 9711601}
	from, to, err := bounds(env, "$indexOfArray", codes, args[2:], len(elements))
	if err != nil {
		return missing, err
	}
	wanted, err := args[1].Eval(env)
	if err != nil {
		return missing, err
	}
	for i := from; i < to; i++ {
		if env.equal(elements[i], wanted) {
			return query.Int32(int32(i)), nil
		}
		if err := env.Work.Do(1); err != nil {
			return missing, err
		}
	}
	return query.Int32(-1), nil
}

// boundCodes are the codes for a bound that is no integer or negative.
type boundCodes struct{ notInteger, negative int32 }

// bounds reads the optional start and end of a search; the end is at most the length.
func bounds(env *Env, name string, codes boundCodes, args []Expression, length int) (from, to int, err error) {
	to = length
	for i, arg := range args {
		v, err := arg.Eval(env)
		if err != nil {
			return 0, 0, err
		}
		which := [...]string{"starting", "ending"}[i]
		n, ok := asIndex(v)
		if !v.IsNumber() || !ok {
			return 0, 0, mongoerr.Errorf(codes.notInteger, "%srequires an integral %s index, found a value of type: %s, with value: %s", name, which,
				typeName(v), spelled(v))
		}
		if n < 0 {
			return 0, 0, mongoerr.Errorf(codes.negative, "%s requires a nonnegative %s index, found: %d", name, which, n)
		}
		if i == 0 {
			from = n
		} else {
			to = min(n, length)
		}
	}
	return from, to, nil
}

func reverseArray(args []Value) (Value, error) {
	if args[0].IsNullish() {
		return null, nil
	}
	if !args[0].IsArray() {
		return missing, mongoerr.Errorf(34435, "The argument to $reverseArray must be an array, but was of type: %s", typeName(args[0]))
	}
	elements := query.Elements(args[0].Data)
	slices.Reverse(elements)
	return array(elements), nil
}
