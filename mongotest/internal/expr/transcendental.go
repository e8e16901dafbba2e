package expr

import (
	"math"
	"math/big"

	"github.com/holdfast-db/holdfast/mongotest/internal/decimal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var transcendentalOperators = []operator{
	numeric("$exp", byKind(accurate(math.Exp, decimal.Exponential), decimal.Exp)),
	numeric("$ln", positive("$ln", 28766, accurateFrom(0, math.MaxFloat64, math.Log, decimal.NaturalLog), decimal.Ln)),
	numeric("$log10", positive("$log10", 28761, accurateFrom(0, math.MaxFloat64, math.Log10, decimal.CommonLog), decimal.Log10)),
	{name: "$log", min: 2, max: 2, apply: logarithm},
	{name: "$pow", min: 2, max: 2, apply: pow},
	numeric("$sqrt", squareRoot),
}

// byKind applies one function to a decimal and another to all other numbers as doubles.
func byKind(double func(float64) float64, exact func(decimal.Number) decimal.Number) func(Value) (Value, error) {
	return func(v Value) (Value, error) {
		if isDecimal(v) {
			return exact(decimal.Of(v)).Value(), nil
		}
		f := v.AsFloat64()
		if math.IsNaN(f) {
			return query.Double(f), nil // with its sign
		}
		return query.Double(double(f)), nil
	}
}

// accurate returns a function that rounds once, like the real server's library in nearly all cases; Go's own may be a bit
// off. It leaves zero, overflow and arguments that the series do not reach to rough.
func accurate(rough func(float64) float64, f func(*big.Float) *big.Float) func(float64) float64 {
	return accurateFrom(1e-100, 1e50, rough, f)
}

// accurateFrom is the same for arguments from the least to the greatest size.
func accurateFrom(least, greatest float64, rough func(float64) float64, f func(*big.Float) *big.Float) func(float64) float64 {
	return func(x float64) float64 {
		r := rough(x)
		if size := math.Abs(x); r == 0 || x == 0 || math.IsNaN(r) || math.IsInf(r, 0) || size < least || size > greatest {
			return r
		}
		exact, _ := f(decimal.BigFloat(x)).Float64()
		return exact
	}
}

// isPositive reports whether a number is above zero; NaN counts as such, since it is an argument like any other.
func isPositive(v Value) bool {
	f := v.AsFloat64()
	return f > 0 || math.IsNaN(f) || isDecimal(v) && decimal.Of(v).Compare(decimal.Number{Coef: decimal.BigZero}) > 0
}

func positive(name string, code int32, double func(float64) float64, exact func(decimal.Number) decimal.Number) func(Value) (Value, error) {
	apply := byKind(double, exact)
	return func(v Value) (Value, error) {
		if !isPositive(v) {
			return missing, mongoerr.Errorf(code, "%s's argument must be a positive number, but is %s", name, sixDigits(v.AsFloat64()))
		}
		if f := v.AsFloat64(); math.IsNaN(f) {
			return query.Double(f), nil // even of a decimal
		}
		return apply(v)
	}
}

func logarithm(args []Value) (Value, error) {
	a, base := args[0], args[1]
	if a.IsNullish() || base.IsNullish() {
		return null, nil
	}
	switch {
	case !a.IsNumber():
		return missing, mongoerr.Errorf(28756, "$log's argument must be numeric, not %s", typeName(a))
	case !base.IsNumber():
		return missing, mongoerr.Errorf(28757, "$log's base must be numeric, not %s", typeName(base))
	case !isPositive(a):
		return missing, mongoerr.Errorf(28758, "$log's argument must be a positive number, but is %s", sixDigits(a.AsFloat64()))
	case !isPositive(base) || query.Equal(base, query.Int32(1)):
		return missing, mongoerr.Errorf(28759, "$log's base must be a positive number not equal to 1, but is %s", sixDigits(base.AsFloat64()))
	case decimal.Of(a).GivesNaN(decimal.Of(base)):
		return query.Double(decimal.Of(a).FirstNaN(decimal.Of(base)).Float()), nil // even of decimals
	case isDecimal(a) || isDecimal(base):
		return decimal.Log(decimal.Of(a), decimal.Of(base)).Value(), nil
	}
	return query.Double(logDouble(a.AsFloat64()) / logDouble(base.AsFloat64())), nil
}

var logDouble = accurateFrom(0, math.MaxFloat64, math.Log, decimal.NaturalLog)

// powDouble rounds once where the power is no special case.
func powDouble(base, exponent float64) float64 {
	r := math.Pow(base, exponent)
	if math.IsNaN(base) || math.IsNaN(exponent) {
		return signedNaN(r, base, exponent)
	}
	if base <= 0 || base == 1 || exponent == 0 || r == 0 || math.IsNaN(r) || math.IsInf(r, 0) {
		return r
	}
	exact, _ := decimal.Exponential(decimal.Times(decimal.NaturalLog(decimal.BigFloat(base)), decimal.BigFloat(exponent))).Float64()
	return exact
}

func squareRoot(v Value) (Value, error) {
	if v.AsFloat64() < 0 || isDecimal(v) && decimal.Of(v).Form == decimal.Finite && decimal.Of(v).Compare(decimal.Number{Coef: decimal.BigZero}) < 0 {
		return missing, mongoerr.Errorf(28714, "$sqrt's argument must be greater than or equal to 0")
	}
	return byKind(math.Sqrt, decimal.Number.Sqrt)(v)
}

func pow(args []Value) (Value, error) {
	base, exponent := args[0], args[1]
	if base.IsNullish() || exponent.IsNullish() {
		return null, nil
	}
	switch {
	case !base.IsNumber():
		return missing, mongoerr.Errorf(28762, "$pow's base must be numeric, not %s", typeName(base))
	case !exponent.IsNumber():
		return missing, mongoerr.Errorf(28763, "$pow's exponent must be numeric, not %s", typeName(exponent))
	case !truth(base) && (exponent.AsFloat64() < 0 || (isDecimal(base) || isDecimal(exponent)) && decimal.Of(exponent).Neg):
		return missing, mongoerr.Errorf(28764, "$pow cannot take a base of 0 and a negative exponent")
	case isDecimal(base) || isDecimal(exponent):
		return decimal.Pow(decimal.Of(base), decimal.Of(exponent)).Value(), nil
	case isDouble(base) || isDouble(exponent):
		return query.Double(powDouble(base.AsFloat64(), exponent.AsFloat64())), nil
	}
	if n, ok := powLong(base.AsInt64(), exponent.AsInt64()); ok {
		return integerValue(n, isLong(base, exponent)), nil
	}
	return query.Double(powDouble(base.AsFloat64(), exponent.AsFloat64())), nil
}

// powLong returns an integer power if it is one in range.
func powLong(base, exponent int64) (int64, bool) {
	switch {
	case base == 1:
		return 1, true
	case base == -1:
		return 1 - 2*(exponent&1), true
	case exponent < 0 || exponent > 63 && base != 0:
		return 0, false
	case base == 0:
		return powZero(exponent), true
	}
	n := int64(1)
	for range exponent {
		var ok bool
		if n, ok = multiplyLong(n, base); !ok {
			return 0, false
		}
	}
	return n, true
}

func powZero(exponent int64) int64 {
	if exponent == 0 {
		return 1
	}
	return 0
}
