package decimal

import "math/big"

func rightAngle(neg bool) Number {
	d := FromBinary(scaled(pi, -1))
	d.Neg = neg
	return d
}

// Trigonometric functions of decimals, in radians, and their inverses.
var (
	Sin   = analytic(same, undefinedAt, Sine)
	Cos   = analytic(always(fullOne), undefinedAt, Cosine)
	Tan   = analytic(zeroAt(-40), undefinedAt, Tangent)
	Atan  = analytic(same, rightAngle, Arctangent)
	Asin  = analytic(zeroAt(-40), undefinedAt, Arcsine)
	Sinh  = analytic(zeroAt(-40), endless, HyperbolicSine)
	Cosh  = analytic(always(fullOne), func(bool) Number { return endless(false) }, HyperbolicCosine)
	Asinh = analytic(zeroAt(MinExp), endless, AreaSine)
	Acosh = analytic(same, endless, AreaCosine)
)

// Acos of one is the least zero.
func Acos(d Number) Number {
	if d.Form == Finite && d.Compare(One) == 0 {
		return leastZero
	}
	return analytic(func(Number) Number { return rightAngle(false) }, undefinedAt, Arccosine)(d)
}

// Sine is the sine of an angle in radians.
func Sine(x *big.Float) *big.Float {
	s, _ := sineCosine(x)
	return s
}

// Cosine is the cosine of an angle in radians.
func Cosine(x *big.Float) *big.Float {
	_, c := sineCosine(x)
	return c
}

// Tangent is the tangent of an angle in radians.
func Tangent(x *big.Float) *big.Float {
	s, c := sineCosine(x)
	return quo(s, c)
}

// Arccosine is the inverse of the cosine.
func Arccosine(x *big.Float) *big.Float { return minus(scaled(pi, -1), Arcsine(x)) }

// HyperbolicSine is the hyperbolic sine.
func HyperbolicSine(x *big.Float) *big.Float {
	return scaled(minus(Exponential(x), Exponential(opposite(x))), -1)
}

// HyperbolicCosine is the hyperbolic cosine.
func HyperbolicCosine(x *big.Float) *big.Float {
	return scaled(plus(Exponential(x), Exponential(opposite(x))), -1)
}

// AreaSine is the inverse of the hyperbolic sine.
func AreaSine(x *big.Float) *big.Float {
	r := NaturalLog(plus(work().Abs(x), root(plus(Times(x, x), one))))
	if x.Sign() < 0 {
		return opposite(r)
	}
	return r
}

// AreaCosine is the inverse of the hyperbolic cosine.
func AreaCosine(x *big.Float) *big.Float {
	if x.Cmp(one) == 0 {
		return work()
	}
	return NaturalLog(plus(x, root(minus(Times(x, x), one))))
}

// AreaTangent is the inverse of the hyperbolic tangent.
func AreaTangent(x *big.Float) *big.Float {
	return scaled(NaturalLog(quo(plus(one, x), minus(one, x))), -1)
}

// Tanh is one, written as such, where it would round to one.
func Tanh(d Number) Number {
	if f := d.Float(); f > 40 || f < -40 {
		return Number{Neg: d.Neg, Coef: big.NewInt(1)}
	}
	return analytic(same, undefinedAt, HyperbolicTangent)(d)
}

// Arcsine is the inverse of the sine.
func Arcsine(x *big.Float) *big.Float {
	rest := minus(one, Times(x, x))
	if rest.Sign() <= 0 {
		return Times(x, scaled(pi, -1))
	}
	return Arctangent(quo(x, root(rest)))
}

// HyperbolicTangent is the hyperbolic tangent.
func HyperbolicTangent(x *big.Float) *big.Float {
	if f, _ := x.Float64(); f > 100 || f < -100 {
		return BigFloat(float64(x.Sign()))
	}
	e := Exponential(twice(x))
	return quo(minus(e, one), plus(e, one))
}

// Atanh is the inverse of the hyperbolic tangent.
func Atanh(d Number) Number {
	if d.Form == NotANumber || d.IsZero() {
		return d.at(MinExp)
	}
	if d.Abs().Compare(One) == 0 {
		return endless(d.Neg)
	}
	return FromBinary(AreaTangent(d.binaryFloat()))
}

// Atan2 is the angle of a point.
func Atan2(y, x Number) Number {
	if y.Form != Finite || x.Form != Finite || y.IsZero() || x.IsZero() {
		return atan2Limit(y, x)
	}
	return FromBinary(AngleOf(y.binaryFloat(), x.binaryFloat()))
}

// AngleOf returns the angle of a point whose coordinates are not zero.
func AngleOf(y, x *big.Float) *big.Float {
	angle := Arctangent(quo(y, x))
	switch {
	case x.Sign() > 0:
		return angle
	case y.Sign() < 0:
		return minus(angle, pi)
	}
	return plus(angle, pi)
}

// atan2Limit is for zeros and infinities, whose angles are multiples of an eighth turn.
func atan2Limit(y, x Number) Number {
	if y.GivesNaN(x) {
		return y.FirstNaN(x)
	}
	eighths := 0.0
	switch {
	case y.Form == Infinite && x.Form == Infinite:
		eighths = 1
		if x.Neg {
			eighths = 3
		}
	case y.Form == Infinite || x.IsZero() && !y.IsZero():
		eighths = 2
	case x.Neg:
		eighths = 4
	}
	angle := FromBinary(quo(Times(pi, BigFloat(eighths)), BigFloat(4)))
	if angle.Neg = y.Neg; eighths == 0 {
		return angle.at(MinExp)
	}
	return angle
}

var (
	// Pi is half of a full angle in radians.
	Pi               = FromBinary(pi)
	straightAngle    = Int(180)
	degreesPerRadian = straightAngle.Divide(Pi)
	radiansPerDegree = Pi.Divide(straightAngle)
)

// DegreesToRadians returns an angle in radians.
func DegreesToRadians(d Number) Number { return d.Multiply(radiansPerDegree) }

// RadiansToDegrees returns an angle in degrees.
func RadiansToDegrees(d Number) Number { return d.Multiply(degreesPerRadian) }
