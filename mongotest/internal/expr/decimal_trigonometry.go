package expr

import "math/big"

func rightAngle(neg bool) decimal {
	d := decimalBinary(scaled(pi, -1))
	d.neg = neg
	return d
}

var (
	decimalSin   = analytic(same, undefinedAt, sine)
	decimalCos   = analytic(always(fullOne), undefinedAt, cosine)
	decimalTan   = analytic(zeroAt(-40), undefinedAt, tangent)
	decimalAtan  = analytic(same, rightAngle, arctangent)
	decimalAsin  = analytic(zeroAt(-40), undefinedAt, arcsine)
	decimalSinh  = analytic(zeroAt(-40), endless, hyperbolicSine)
	decimalCosh  = analytic(always(fullOne), func(bool) decimal { return endless(false) }, hyperbolicCosine)
	decimalAsinh = analytic(zeroAt(decimalMinExp), endless, areaSine)
	decimalAcosh = analytic(same, endless, areaCosine)
)

// decimalAcos of one is the least zero.
func decimalAcos(d decimal) decimal {
	if d.form == finite && d.compare(decimalOne) == 0 {
		return leastZero
	}
	return analytic(func(decimal) decimal { return rightAngle(false) }, undefinedAt, arccosine)(d)
}

func sine(x *big.Float) *big.Float {
	s, _ := sineCosine(x)
	return s
}

func cosine(x *big.Float) *big.Float {
	_, c := sineCosine(x)
	return c
}

func tangent(x *big.Float) *big.Float {
	s, c := sineCosine(x)
	return quo(s, c)
}

func arccosine(x *big.Float) *big.Float { return minus(scaled(pi, -1), arcsine(x)) }

func hyperbolicSine(x *big.Float) *big.Float {
	return scaled(minus(exponential(x), exponential(opposite(x))), -1)
}

func hyperbolicCosine(x *big.Float) *big.Float {
	return scaled(plus(exponential(x), exponential(opposite(x))), -1)
}

func areaSine(x *big.Float) *big.Float {
	r := naturalLog(plus(work().Abs(x), root(plus(times(x, x), one))))
	if x.Sign() < 0 {
		return opposite(r)
	}
	return r
}

func areaCosine(x *big.Float) *big.Float {
	if x.Cmp(one) == 0 {
		return work()
	}
	return naturalLog(plus(x, root(minus(times(x, x), one))))
}

func areaTangent(x *big.Float) *big.Float {
	return scaled(naturalLog(quo(plus(one, x), minus(one, x))), -1)
}

// decimalTanh is one, written as such, where it would round to one.
func decimalTanh(d decimal) decimal {
	if f := d.float(); f > 40 || f < -40 {
		return decimal{neg: d.neg, coef: big.NewInt(1)}
	}
	return analytic(same, undefinedAt, hyperbolicTangent)(d)
}

func arcsine(x *big.Float) *big.Float {
	rest := minus(one, times(x, x))
	if rest.Sign() <= 0 {
		return times(x, scaled(pi, -1))
	}
	return arctangent(quo(x, root(rest)))
}

func hyperbolicTangent(x *big.Float) *big.Float {
	if f, _ := x.Float64(); f > 100 || f < -100 {
		return number(float64(x.Sign()))
	}
	e := exponential(twice(x))
	return quo(minus(e, one), plus(e, one))
}

func decimalAtanh(d decimal) decimal {
	if d.form == notANumber || d.isZero() {
		return d.at(decimalMinExp)
	}
	if d.abs().compare(decimalOne) == 0 {
		return endless(d.neg)
	}
	return decimalBinary(areaTangent(d.binaryFloat()))
}

func decimalAtan2(y, x decimal) decimal {
	if y.form != finite || x.form != finite || y.isZero() || x.isZero() {
		return atan2Limit(y, x)
	}
	return decimalBinary(angleOf(y.binaryFloat(), x.binaryFloat()))
}

// angleOf returns the angle of a point whose coordinates are not zero.
func angleOf(y, x *big.Float) *big.Float {
	angle := arctangent(quo(y, x))
	switch {
	case x.Sign() > 0:
		return angle
	case y.Sign() < 0:
		return minus(angle, pi)
	}
	return plus(angle, pi)
}

// atan2Limit is for zeros and infinities, whose angles are multiples of an eighth turn.
func atan2Limit(y, x decimal) decimal {
	if y.givesNaN(x) {
		return y.firstNaN(x)
	}
	eighths := 0.0
	switch {
	case y.form == infinite && x.form == infinite:
		eighths = 1
		if x.neg {
			eighths = 3
		}
	case y.form == infinite || x.isZero() && !y.isZero():
		eighths = 2
	case x.neg:
		eighths = 4
	}
	angle := decimalBinary(quo(times(pi, number(eighths)), number(4)))
	if angle.neg = y.neg; eighths == 0 {
		return angle.at(decimalMinExp)
	}
	return angle
}

var (
	piDecimal        = decimalBinary(pi)
	straightAngle    = decimalInt(180)
	degreesPerRadian = straightAngle.divide(piDecimal)
	radiansPerDegree = piDecimal.divide(straightAngle)
)

func degreesToRadians(d decimal) decimal { return d.multiply(radiansPerDegree) }
func radiansToDegrees(d decimal) decimal { return d.multiply(degreesPerRadian) }
