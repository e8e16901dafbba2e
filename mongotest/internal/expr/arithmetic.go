package expr

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/decimal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var arithmeticOperators = []operator{
	{name: "$add", max: -1, joins: joinsLeading, lazy: folded(query.Int32(0), addStep)},
	{name: "$multiply", max: -1, joins: joinsLeading, lazy: folded(query.Int32(1), multiplyStep)},
	{name: "$subtract", min: 2, max: 2, rightFirst: true, apply: subtract},
	{name: "$divide", min: 2, max: 2, rightFirst: true, apply: divide},
	{name: "$mod", min: 2, max: 2, rightFirst: true, apply: mod},
	numeric("$abs", abs),
	numeric("$ceil", wholeNumber(math.Ceil, decimal.Up)),
	numeric("$floor", wholeNumber(math.Floor, decimal.Down)),
	{name: "$round", min: 1, max: 2, lazy: rounded("$round", decimal.HalfEven, math.RoundToEven)},
	{name: "$trunc", min: 1, max: 2, lazy: rounded("$trunc", decimal.TowardZero, math.Trunc)},
	{name: "$sigmoid", parse: parseSigmoid},
}

// folded applies step to the arguments from the left, and ends with null at the first that is null or absent. The result of ints is one
// if it fits, whatever the steps before it were.
func folded(start Value, step func(total, v Value) (Value, error)) func(*Env, []Expression) (Value, error) {
	return func(env *Env, args []Expression) (Value, error) {
		total, ints := start, true
		for _, arg := range args {
			v, err := arg.Eval(env)
			if err != nil {
				return missing, err
			}
			if v.IsNullish() {
				return null, nil
			}
			if total, err = step(total, v); err != nil {
				return missing, err
			}
			ints = ints && v.Type == bson.TypeInt32
		}
		if ints && total.Type == bson.TypeInt64 {
			total = integerValue(total.AsInt64(), false)
		}
		return total, nil
	}
}

func addStep(total, v Value) (Value, error) {
	switch {
	case isDate(v) && isDate(total):
		return missing, mongoerr.Errorf(16612, "only one date allowed in an $add expression")
	case !isDate(v) && !v.IsNumber():
		return missing, mongoerr.Errorf(mongoerr.TypeMismatch, "$add only supports numeric or date types, not %s", typeName(v))
	case isDate(v):
		return shiftDate(v, total, addLong)
	case isDate(total):
		return shiftDate(total, v, addLong)
	}
	return addNumbers(total, v), nil
}

// shiftDate adds or subtracts a number of milliseconds, rounded to a whole one.
func shiftDate(d, by Value, op func(a, b int64) (int64, bool)) (Value, error) {
	n, ok := milliseconds(by)
	if ok {
		n, ok = op(d.AsInt64(), n)
	}
	if !ok {
		return missing, mongoerr.Errorf(mongoerr.Overflow, "date overflow")
	}
	return date(n), nil
}

func milliseconds(v Value) (int64, bool) {
	switch {
	case isDouble(v):
		f := math.Round(v.AsFloat64())
		return int64(f), f >= -1<<63 && f < 1<<63
	case isDecimal(v):
		d := decimal.Of(v).Quantize(0, decimal.HalfEven)
		if d.Form != decimal.Finite || !d.Signed(0).IsInt64() {
			return 0, false
		}
		return d.Signed(0).Int64(), true
	}
	return v.AsInt64(), true
}

// double is the result of an operation on doubles. Where both are NaN it is a: for processors the second operand of what commutes.
func double(result float64, a, b Value) Value {
	return query.Double(signedNaN(result, a.AsFloat64(), b.AsFloat64()))
}

func addNumbers(a, b Value) Value {
	switch {
	case isDecimal(a) || isDecimal(b):
		return decimal.Of(a).Add(decimal.Of(b)).Value()
	case isDouble(a) || isDouble(b):
		return double(a.AsFloat64()+b.AsFloat64(), b, a)
	}
	sum, ok := addLong(a.AsInt64(), b.AsInt64())
	if !ok {
		return double(a.AsFloat64()+b.AsFloat64(), b, a)
	}
	return integerValue(sum, isLong(a, b))
}

func multiplyStep(total, v Value) (Value, error) {
	if !v.IsNumber() {
		return missing, mongoerr.Errorf(mongoerr.TypeMismatch, "$multiply only supports numeric types, not %s", typeName(v))
	}
	switch {
	case isDecimal(total) || isDecimal(v):
		return decimal.Of(total).Multiply(decimal.Of(v)).Value(), nil
	case isDouble(total) || isDouble(v):
		return double(total.AsFloat64()*v.AsFloat64(), v, total), nil
	}
	product, ok := multiplyLong(total.AsInt64(), v.AsInt64())
	if !ok {
		return double(total.AsFloat64()*v.AsFloat64(), v, total), nil
	}
	return integerValue(product, isLong(total, v)), nil
}

func subtract(args []Value) (Value, error) {
	a, b := args[0], args[1]
	switch {
	case a.IsNullish() || b.IsNullish():
		return null, nil
	case isDate(a) && isDate(b):
		return query.Int64(a.AsInt64() - b.AsInt64()), nil
	case isDate(a) && b.IsNumber():
		return shiftDate(a, b, subtractLong)
	case isDate(a):
		return missing, mongoerr.Errorf(mongoerr.TypeMismatch, "can't $subtract %s from Date", typeName(b))
	case !a.IsNumber() || !b.IsNumber():
		return missing, mongoerr.Errorf(mongoerr.TypeMismatch, "can't $subtract %s from %s", typeName(b), typeName(a))
	case isDecimal(a) || isDecimal(b):
		return decimal.Of(a).Subtract(decimal.Of(b)).Value(), nil
	case isDouble(a) || isDouble(b):
		return double(a.AsFloat64()-b.AsFloat64(), a, b), nil
	}
	n, ok := subtractLong(a.AsInt64(), b.AsInt64())
	if !ok {
		return double(a.AsFloat64()-b.AsFloat64(), a, b), nil
	}
	return integerValue(n, isLong(a, b)), nil
}

func divide(args []Value) (Value, error) {
	a, b := args[0], args[1]
	switch {
	case a.IsNumber() && b.IsNumber():
		if !truth(b) {
			return missing, mongoerr.Errorf(mongoerr.BadValue, "can't $divide by zero")
		}
		if isDecimal(a) || isDecimal(b) {
			return decimal.Of(a).Divide(decimal.Of(b)).Value(), nil
		}
		return double(a.AsFloat64()/b.AsFloat64(), a, b), nil
	case a.IsNullish() || b.IsNullish():
		return null, nil
	}
	return missing, mongoerr.Errorf(mongoerr.TypeMismatch, "$divide only supports numeric types, not %s and %s", typeName(a), typeName(b))
}

func mod(args []Value) (Value, error) {
	a, b := args[0], args[1]
	switch {
	case a.IsNumber() && b.IsNumber():
		return modNumbers(a, b)
	case a.IsNullish() || b.IsNullish():
		return null, nil
	}
	return missing, mongoerr.Errorf(16611, "$mod only supports numeric types, not %s and %s", typeName(a), typeName(b))
}

func modNumbers(a, b Value) (Value, error) {
	zero := mongoerr.Errorf(16610, "can't $mod by zero")
	switch {
	case isDecimal(a) || isDecimal(b):
		if !truth(b) {
			return missing, mongoerr.Errorf(5733415, "can't $mod by zero")
		}
		return decimal.Of(a).Remainder(decimal.Of(b)).Value(), nil
	case !truth(b):
		return missing, zero
	case isDouble(a) || isDouble(b):
		return double(math.Mod(a.AsFloat64(), b.AsFloat64()), b, a), nil
	case b.AsInt64() == -1:
		return integerValue(0, isLong(a, b)), nil
	}
	return integerValue(a.AsInt64()%b.AsInt64(), isLong(a, b)), nil
}

// numeric is an operator of one number; null and an absent value give null.
func numeric(name string, apply func(v Value) (Value, error)) operator {
	return operator{name: name, min: 1, max: 1, apply: func(args []Value) (Value, error) {
		v := args[0]
		switch {
		case v.IsNullish():
			return null, nil
		case !v.IsNumber():
			return missing, mongoerr.Errorf(28765, "%s only supports numeric types, not %s", name, typeName(v))
		}
		return apply(v)
	}}
}

func abs(v Value) (Value, error) {
	switch {
	case isDouble(v):
		return query.Double(math.Abs(v.AsFloat64())), nil
	case isDecimal(v):
		return decimal.Of(v).Abs().Value(), nil
	}
	n := v.AsInt64()
	if n == math.MinInt64 {
		return missing, mongoerr.Errorf(28680, "can't take $abs of long long min")
	}
	return integerValue(max(n, -n), isLong(v)), nil
}

func wholeNumber(double func(float64) float64, mode decimal.Rounding) func(Value) (Value, error) {
	return func(v Value) (Value, error) {
		switch {
		case isDouble(v):
			return query.Double(double(v.AsFloat64())), nil
		case isDecimal(v):
			d := decimal.Of(v)
			if d.Form == decimal.Infinite {
				return decimal.NaN.Value(), nil
			}
			return d.Quantize(0, mode).Value(), nil
		}
		return v, nil
	}
}

// parseSigmoid writes $sigmoid as the real server does: 1 / (1 + e^-x).
func parseSigmoid(p *parser, _ *operator, v Value) (Expression, error) {
	x, err := p.expression(v)
	if err != nil {
		return nil, err
	}
	if c, ok := x.(constant); v.IsArray() || ok && c.value.IsString() {
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "$sigmoid only supports numeric types, not %s", typeName(v))
	}
	one := constant{query.Int32(1)}
	minus := &call{op: operators["$multiply"], args: []Expression{constant{query.Int32(-1)}, x}}
	power := &call{op: operators["$exp"], args: []Expression{minus}}
	return &call{op: operators["$divide"], args: []Expression{one, &call{op: operators["$add"], args: []Expression{one, power}}}}, nil
}
