package decimal

import (
	"math"
	"math/big"
)

// The functions below compute with binary floats of many more digits than a decimal has, by series, and round once at the
// end. Beyond what those floats reach they go to the limits.

// workBits is enough for 34 digits after the worst cancellation that the series here have.
const workBits = 400

var (
	// BigZero is 0.
	BigZero = new(big.Int)
	half    = BigFloat(0.5)
	one     = BigFloat(1)
	two     = BigFloat(2)
	pi      = machinPi()
	ln2     = logNearOne(quo(one, two), true)
	ln10    = NaturalLog(BigFloat(10))
)

// BigFloat returns a double with the precision of the work.
func BigFloat(f float64) *big.Float    { return work().SetFloat64(f) }
func work() *big.Float                 { return new(big.Float).SetPrec(workBits) }
func plus(a, b *big.Float) *big.Float  { return work().Add(a, b) }
func minus(a, b *big.Float) *big.Float { return work().Sub(a, b) }

// Times returns the product.
func Times(a, b *big.Float) *big.Float { return work().Mul(a, b) }
func quo(a, b *big.Float) *big.Float   { return work().Quo(a, b) }
func opposite(a *big.Float) *big.Float { return work().Neg(a) }
func root(a *big.Float) *big.Float     { return work().Sqrt(a) }
func tiny(term, sum *big.Float) bool {
	return term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-workBits
}
func atanInverse(n float64) *big.Float      { return atanSeries(quo(one, BigFloat(n))) }
func twice(a *big.Float) *big.Float         { return Times(two, a) }
func scaled(a *big.Float, n int) *big.Float { return work().SetMantExp(a, n) }

// machinPi is Machin's formula.
func machinPi() *big.Float {
	return Times(BigFloat(4), minus(Times(BigFloat(4), atanInverse(5)), atanInverse(239)))
}

// fixedPi is pi with a number of bits.
func fixedPi(bits uint) *big.Float {
	bits += 32
	sum := new(big.Int).Sub(new(big.Int).Lsh(fixedAtanInverse(5, bits), 4), new(big.Int).Lsh(fixedAtanInverse(239, bits), 2))
	return new(big.Float).SetMantExp(new(big.Float).SetPrec(bits).SetInt(sum), -int(bits))
}

// fixedAtanInverse is the arctangent of 1/n times 2^bits.
func fixedAtanInverse(n int64, bits uint) *big.Int {
	power := new(big.Int).Lsh(big.NewInt(1), bits)
	power.Quo(power, big.NewInt(n))
	sum, square := new(big.Int).Set(power), big.NewInt(-n*n)
	for k := int64(3); power.Sign() != 0; k += 2 {
		power.Quo(power, square)
		sum.Add(sum, new(big.Int).Quo(power, big.NewInt(k)))
	}
	return sum
}

// atanSeries is for small arguments.
func atanSeries(x *big.Float) *big.Float {
	square := opposite(Times(x, x))
	sum, power := work().Set(x), work().Set(x)
	for n := 3.0; ; n += 2 {
		power = Times(power, square)
		term := quo(power, BigFloat(n))
		if tiny(term, sum) {
			return sum
		}
		sum = plus(sum, term)
	}
}

// logNearOne is the logarithm by the series of the inverse hyperbolic tangent; negate gives that of the reciprocal.
func logNearOne(x *big.Float, negate bool) *big.Float {
	z := quo(minus(x, one), plus(x, one))
	if negate {
		z = opposite(z)
	}
	square := Times(z, z)
	sum, power := work().Set(z), work().Set(z)
	for n := 3.0; ; n += 2 {
		power = Times(power, square)
		term := quo(power, BigFloat(n))
		if tiny(term, sum) {
			return twice(sum)
		}
		sum = plus(sum, term)
	}
}

// NaturalLog is the logarithm to the base e.
func NaturalLog(x *big.Float) *big.Float {
	mantissa := work()
	exponent := x.MantExp(mantissa)
	return plus(logNearOne(mantissa, false), Times(ln2, BigFloat(float64(exponent))))
}

// exponentialLimit is an argument whose exponential is beyond all decimals, and that of its opposite below them.
const exponentialLimit = 20_000

// Exponential reduces the argument by multiples of ln 2 and then by halves.
func Exponential(x *big.Float) *big.Float {
	if work().Abs(x).Cmp(BigFloat(exponentialLimit)) > 0 {
		x = BigFloat(float64(x.Sign()) * exponentialLimit)
	}
	k, _ := plus(quo(x, ln2), half).Int64()
	r := scaled(minus(x, Times(ln2, BigFloat(float64(k)))), -8)
	sum, term := BigFloat(1), BigFloat(1)
	for n := 1.0; ; n++ {
		term = quo(Times(term, r), BigFloat(n))
		if tiny(term, sum) {
			break
		}
		sum = plus(sum, term)
	}
	for range 8 {
		sum = Times(sum, sum)
	}
	return scaled(sum, int(k))
}

// sineCosine reduces the argument by multiples of a half pi, exactly enough for every decimal by adding bits to pi.
func sineCosine(x *big.Float) (sine, cosine *big.Float) {
	precise := func() *big.Float { return new(big.Float).SetPrec(uint(workBits + max(0, x.MantExp(nil)))) }
	halfPi := pi
	if x.MantExp(nil) > 0 {
		halfPi = fixedPi(precise().Prec())
	}
	halfPi = precise().SetMantExp(halfPi, -1)
	turns := precise().Quo(x, halfPi)
	k, _ := precise().Add(turns, BigFloat(math.Copysign(0.5, float64(x.Sign())))).Int(nil)
	r := work().Set(precise().Sub(x, precise().Mul(precise().SetInt(k), halfPi)))
	s, c := series(r, 1), series(r, 0)
	switch new(big.Int).And(k, big.NewInt(3)).Int64() {
	case 1:
		return c, opposite(s)
	case 2:
		return opposite(s), opposite(c)
	case 3:
		return opposite(c), s
	}
	return s, c
}

// series is that of the sine (from 1) or the cosine (from 0).
func series(x *big.Float, from float64) *big.Float {
	square := opposite(Times(x, x))
	term := BigFloat(1)
	if from == 1 {
		term = work().Set(x)
	}
	sum := work().Set(term)
	for n := from + 1; ; n += 2 {
		term = quo(Times(term, square), BigFloat(n*(n+1)))
		if tiny(term, sum) {
			return sum
		}
		sum = plus(sum, term)
	}
}

// Arctangent halves the angle until the series is fast.
func Arctangent(x *big.Float) *big.Float {
	for range 5 {
		x = quo(x, plus(one, root(plus(one, Times(x, x)))))
	}
	return scaled(atanSeries(x), 5)
}

// binaryFloat returns a finite decimal as a float, a whole number exactly.
func (d Number) binaryFloat() *big.Float {
	var f *big.Float
	if d.Exp < 0 {
		f = quo(work().SetInt(d.Coef), work().SetInt(power10(-d.Exp)))
	} else {
		f = new(big.Float).SetInt(new(big.Int).Mul(d.Coef, power10(d.Exp)))
	}
	if d.Neg {
		return f.Neg(f)
	}
	return f
}

// FromBinary rounds a float to a decimal of 34 digits.
func FromBinary(f *big.Float) Number {
	if f.Sign() == 0 {
		return Number{Neg: f.Signbit(), Coef: BigZero, Exp: 0}
	}
	d, _ := Parse(f.Text('e', Digits-1))
	return d
}

// analytic makes a function of decimals of one of floats: NaN stays, zero and the infinities have given results.
func analytic(atZero func(Number) Number, atInfinity func(neg bool) Number, f func(*big.Float) *big.Float) func(Number) Number {
	return func(d Number) Number {
		switch {
		case d.Form == NotANumber:
			return d
		case d.Form == Infinite:
			return atInfinity(d.Neg)
		case d.IsZero():
			return atZero(d)
		}
		return FromBinary(f(d.binaryFloat()))
	}
}

func same(d Number) Number                { return d }
func always(d Number) func(Number) Number { return func(Number) Number { return d } }
func endless(neg bool) Number             { return Number{Form: Infinite, Neg: neg} }
func undefinedAt(bool) Number             { return NaN }

var (
	// One is 1.
	One       = Int(1)
	fullOne   = Number{Coef: power10(Digits - 1), Exp: 1 - Digits} // one with all digits shown
	leastZero = Number{Coef: BigZero, Exp: MinExp}
)

// zeroAt gives a zero another exponent, as the real server's library does.
func zeroAt(exp int) func(Number) Number { return func(d Number) Number { return d.at(exp) } }

// extreme is beyond what e to the power of it fits in a decimal.
const extreme = 15000

// Exp is e to a power.
func Exp(d Number) Number {
	switch {
	case d.Form == NotANumber:
		return d
	case d.Form == Infinite && d.Neg:
		return Number{Coef: BigZero}
	case d.Form == Finite && d.Float() < -extreme:
		return leastZero
	case d.Form == Infinite, d.Float() > extreme:
		return endless(false)
	case d.IsZero():
		return One
	}
	return FromBinary(Exponential(d.binaryFloat()))
}

// Ln is the logarithm to the base e.
func Ln(d Number) Number {
	switch {
	case d.Form != Finite:
		return d
	case d.IsZero():
		return endless(true)
	case d.Compare(One) == 0:
		return Number{Coef: BigZero}
	}
	return FromBinary(NaturalLog(d.binaryFloat()))
}

// Log10 is the logarithm to the base 10.
func Log10(d Number) Number {
	if d.Form != Finite || d.IsZero() {
		return Ln(d)
	}
	if whole := d.Strip(math.MaxInt32); whole.Coef.Cmp(big.NewInt(1)) == 0 {
		return Int(int64(whole.Exp))
	}
	return FromBinary(CommonLog(d.binaryFloat()))
}

// Pow is a power.
func Pow(base, exponent Number) Number {
	switch {
	case exponent.IsZero(), base.Form == Finite && base.Compare(One) == 0:
		return fullOne
	case base.GivesNaN(exponent):
		return base.FirstNaN(exponent)
	case base.IsZero():
		return leastZero
	case base.Form == Infinite || exponent.Form == Infinite:
		if f := math.Pow(base.Float(), exponent.Float()); f != 0 {
			return FromFloat(f)
		}
		return leastZero
	}
	whole := exponent.Integral(TowardZero).Compare(exponent) == 0
	if base.Neg && !whole {
		return NaN
	}
	log := Times(NaturalLog(base.Abs().binaryFloat()), exponent.binaryFloat())
	if f, _ := log.Float64(); math.Abs(f) > extreme {
		return Exp(FromFloat(f))
	}
	result := FromBinary(Exponential(log))
	odd := whole && exponent.Remainder(Int(2)).Coef.Sign() != 0
	result.Neg = base.Neg && odd
	return result
}

// Log is the logarithm of d to a base.
func Log(d, base Number) Number {
	if d.Form != Finite || base.Form != Finite || d.Compare(One) == 0 {
		return Ln(d).Divide(Ln(base))
	}
	return FromBinary(quo(NaturalLog(d.binaryFloat()), NaturalLog(base.binaryFloat())))
}

// CommonLog is the logarithm to the base 10.
func CommonLog(x *big.Float) *big.Float { return quo(NaturalLog(x), ln10) }
