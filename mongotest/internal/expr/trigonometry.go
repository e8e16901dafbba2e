package expr

import (
	"math"

	"github.com/holdfast-db/holdfast/mongotest/internal/decimal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var trigonometryOperators = []operator{
	within("$sin", open, accurateFrom(1e-100, math.MaxFloat64, math.Sin, decimal.Sine), decimal.Sin),
	within("$cos", open, accurateFrom(1e-100, math.MaxFloat64, math.Cos, decimal.Cosine), decimal.Cos),
	within("$tan", open, accurateFrom(1e-100, math.MaxFloat64, math.Tan, decimal.Tangent), decimal.Tan),
	within("$asin", unit, accurate(math.Asin, decimal.Arcsine), decimal.Asin),
	within("$acos", unit, accurate(math.Acos, decimal.Arccosine), decimal.Acos),
	within("$atanh", unit, accurate(math.Atanh, decimal.AreaTangent), decimal.Atanh),
	within("$acosh", fromOne, accurate(math.Acosh, decimal.AreaCosine), decimal.Acosh),
	numeric("$atan", byKind(accurate(math.Atan, decimal.Arctangent), decimal.Atan)),
	numeric("$sinh", byKind(accurate(math.Sinh, decimal.HyperbolicSine), decimal.Sinh)),
	numeric("$cosh", byKind(accurate(math.Cosh, decimal.HyperbolicCosine), decimal.Cosh)),
	numeric("$tanh", byKind(accurate(math.Tanh, decimal.HyperbolicTangent), decimal.Tanh)),
	numeric("$asinh", byKind(accurate(math.Asinh, decimal.AreaSine), decimal.Asinh)),
	numeric("$degreesToRadians", byKind(func(f float64) float64 { return f * (math.Pi / 180) }, decimal.DegreesToRadians)),
	numeric("$radiansToDegrees", byKind(func(f float64) float64 { return f * (180 / math.Pi) }, decimal.RadiansToDegrees)),
	{name: "$atan2", min: 2, max: 2, lazy: atan2},
}

// domain is where a function is defined.
type domain struct {
	text string
	has  func(d decimal.Number) bool
}

var (
	open    = domain{"(-inf,inf)", func(d decimal.Number) bool { return d.Form == decimal.Finite }}
	unit    = domain{"[-1,1]", func(d decimal.Number) bool { return d.Abs().Compare(decimal.One) <= 0 }}
	fromOne = domain{"[1,inf]", func(d decimal.Number) bool { return d.Compare(decimal.One) >= 0 }}
)

func within(name string, d domain, double func(float64) float64, exact func(decimal.Number) decimal.Number) operator {
	apply := byKind(double, exact)
	return numeric(name, func(v Value) (Value, error) {
		n := decimal.Of(v)
		if isDouble(v) {
			n = decimalExactly(v.AsFloat64())
		}
		if n.Form != decimal.NotANumber && !d.has(n) {
			return missing, mongoerr.Errorf(50989, "cannot apply %s to %s, value must be in %s", name, outside(v), d.text)
		}
		return apply(v)
	})
}

func atan2(env *Env, args []Expression) (Value, error) {
	var y, x Value
	isNull, err := inTurn(env, args, taker{0, into(&y, onlyNumber(51044, "$atan2"))}, taker{1, into(&x, onlyNumber(51045, "$atan2"))})
	if isNull || err != nil {
		return null, err
	}
	if isDecimal(y) || isDecimal(x) {
		return decimal.Atan2(decimal.Of(y), decimal.Of(x)).Value(), nil
	}
	return query.Double(atan2Double(y.AsFloat64(), x.AsFloat64())), nil
}

// atan2Double rounds once where the angle is no special case.
func atan2Double(y, x float64) float64 {
	switch r := math.Atan2(y, x); {
	case math.IsNaN(r):
		return signedNaN(r, y, x)
	case r == 0 || x == 0 || y == 0 || math.IsInf(x, 0) || math.IsInf(y, 0):
		return r
	}
	exact, _ := decimal.AngleOf(decimal.BigFloat(y), decimal.BigFloat(x)).Float64()
	return exact
}

// outside writes an argument that a function does not take: a decimal as it is, other numbers as doubles.
func outside(v Value) string {
	if isDecimal(v) {
		return spelled(v)
	}
	return sixDigits(v.AsFloat64())
}
