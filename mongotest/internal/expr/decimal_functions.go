package expr

import (
	"math"
	"math/big"
)

// The functions below compute with binary floats of many more digits than a decimal has, by series, and round once at the
// end. Beyond what those floats reach they go to the limits.

// workBits is enough for 34 digits after the worst cancellation that the series here have.
const workBits = 400

var (
	bigZero = new(big.Int)
	half    = number(0.5)
	one     = number(1)
	two     = number(2)
	pi      = machinPi()
	ln2     = logNearOne(quo(one, two), true)
	ln10    = naturalLog(number(10))
)

func number(f float64) *big.Float      { return work().SetFloat64(f) }
func work() *big.Float                 { return new(big.Float).SetPrec(workBits) }
func plus(a, b *big.Float) *big.Float  { return work().Add(a, b) }
func minus(a, b *big.Float) *big.Float { return work().Sub(a, b) }
func times(a, b *big.Float) *big.Float { return work().Mul(a, b) }
func quo(a, b *big.Float) *big.Float   { return work().Quo(a, b) }
func opposite(a *big.Float) *big.Float { return work().Neg(a) }
func root(a *big.Float) *big.Float     { return work().Sqrt(a) }
func tiny(term, sum *big.Float) bool {
	return term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-workBits
}
func atanInverse(n float64) *big.Float      { return atanSeries(quo(one, number(n))) }
func twice(a *big.Float) *big.Float         { return times(two, a) }
func scaled(a *big.Float, n int) *big.Float { return work().SetMantExp(a, n) }

// machinPi is Machin's formula.
func machinPi() *big.Float {
	return times(number(4), minus(times(number(4), atanInverse(5)), atanInverse(239)))
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
	square := opposite(times(x, x))
	sum, power := work().Set(x), work().Set(x)
	for n := 3.0; ; n += 2 {
		power = times(power, square)
		term := quo(power, number(n))
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
	square := times(z, z)
	sum, power := work().Set(z), work().Set(z)
	for n := 3.0; ; n += 2 {
		power = times(power, square)
		term := quo(power, number(n))
		if tiny(term, sum) {
			return twice(sum)
		}
		sum = plus(sum, term)
	}
}

func naturalLog(x *big.Float) *big.Float {
	mantissa := work()
	exponent := x.MantExp(mantissa)
	return plus(logNearOne(mantissa, false), times(ln2, number(float64(exponent))))
}

// exponentialLimit is an argument whose exponential is beyond all decimals, and that of its opposite below them.
const exponentialLimit = 20_000

// exponential reduces the argument by multiples of ln 2 and then by halves.
func exponential(x *big.Float) *big.Float {
	if work().Abs(x).Cmp(number(exponentialLimit)) > 0 {
		x = number(float64(x.Sign()) * exponentialLimit)
	}
	k, _ := plus(quo(x, ln2), half).Int64()
	r := scaled(minus(x, times(ln2, number(float64(k)))), -8)
	sum, term := number(1), number(1)
	for n := 1.0; ; n++ {
		term = quo(times(term, r), number(n))
		if tiny(term, sum) {
			break
		}
		sum = plus(sum, term)
	}
	for range 8 {
		sum = times(sum, sum)
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
	k, _ := precise().Add(turns, number(math.Copysign(0.5, float64(x.Sign())))).Int(nil)
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
	square := opposite(times(x, x))
	term := number(1)
	if from == 1 {
		term = work().Set(x)
	}
	sum := work().Set(term)
	for n := from + 1; ; n += 2 {
		term = quo(times(term, square), number(n*(n+1)))
		if tiny(term, sum) {
			return sum
		}
		sum = plus(sum, term)
	}
}

// arctangent halves the angle until the series is fast.
func arctangent(x *big.Float) *big.Float {
	for range 5 {
		x = quo(x, plus(one, root(plus(one, times(x, x)))))
	}
	return scaled(atanSeries(x), 5)
}

// binaryFloat returns a finite decimal as a float, a whole number exactly.
func (d decimal) binaryFloat() *big.Float {
	var f *big.Float
	if d.exp < 0 {
		f = quo(work().SetInt(d.coef), work().SetInt(power10(-d.exp)))
	} else {
		f = new(big.Float).SetInt(new(big.Int).Mul(d.coef, power10(d.exp)))
	}
	if d.neg {
		return f.Neg(f)
	}
	return f
}

// decimalBinary rounds a float to a decimal of 34 digits.
func decimalBinary(f *big.Float) decimal {
	if f.Sign() == 0 {
		return decimal{neg: f.Signbit(), coef: bigZero, exp: 0}
	}
	d, _ := parseDecimal(f.Text('e', decimalDigits-1))
	return d
}

// analytic makes a function of decimals of one of floats: NaN stays, zero and the infinities have given results.
func analytic(atZero func(decimal) decimal, atInfinity func(neg bool) decimal, f func(*big.Float) *big.Float) func(decimal) decimal {
	return func(d decimal) decimal {
		switch {
		case d.form == notANumber:
			return d
		case d.form == infinite:
			return atInfinity(d.neg)
		case d.isZero():
			return atZero(d)
		}
		return decimalBinary(f(d.binaryFloat()))
	}
}

func same(d decimal) decimal                 { return d }
func always(d decimal) func(decimal) decimal { return func(decimal) decimal { return d } }
func endless(neg bool) decimal               { return decimal{form: infinite, neg: neg} }
func undefinedAt(bool) decimal               { return nan }

var (
	decimalOne = decimalInt(1)
	fullOne    = decimal{coef: power10(decimalDigits - 1), exp: 1 - decimalDigits} // one with all digits shown
	leastZero  = decimal{coef: bigZero, exp: decimalMinExp}
)

// zeroAt gives a zero another exponent, as the real server's library does.
func zeroAt(exp int) func(decimal) decimal { return func(d decimal) decimal { return d.at(exp) } }

// extreme is beyond what e to the power of it fits in a decimal.
const extreme = 15000

func decimalExp(d decimal) decimal {
	switch {
	case d.form == notANumber:
		return d
	case d.form == infinite && d.neg:
		return decimal{coef: bigZero}
	case d.form == finite && d.float() < -extreme:
		return leastZero
	case d.form == infinite, d.float() > extreme:
		return endless(false)
	case d.isZero():
		return decimalOne
	}
	return decimalBinary(exponential(d.binaryFloat()))
}

func decimalLn(d decimal) decimal {
	switch {
	case d.form != finite:
		return d
	case d.isZero():
		return endless(true)
	case d.compare(decimalOne) == 0:
		return decimal{coef: bigZero}
	}
	return decimalBinary(naturalLog(d.binaryFloat()))
}

func decimalLog10(d decimal) decimal {
	if d.form != finite || d.isZero() {
		return decimalLn(d)
	}
	if whole := d.strip(math.MaxInt32); whole.coef.Cmp(big.NewInt(1)) == 0 {
		return decimalInt(int64(whole.exp))
	}
	return decimalBinary(commonLog(d.binaryFloat()))
}

func decimalPow(base, exponent decimal) decimal {
	switch {
	case exponent.isZero(), base.form == finite && base.compare(decimalOne) == 0:
		return fullOne
	case base.givesNaN(exponent):
		return base.firstNaN(exponent)
	case base.isZero():
		return leastZero
	case base.form == infinite || exponent.form == infinite:
		if f := math.Pow(base.float(), exponent.float()); f != 0 {
			return decimalFloat(f)
		}
		return leastZero
	}
	whole := exponent.integral(towardZero).compare(exponent) == 0
	if base.neg && !whole {
		return nan
	}
	log := times(naturalLog(base.abs().binaryFloat()), exponent.binaryFloat())
	if f, _ := log.Float64(); math.Abs(f) > extreme {
		return decimalExp(decimalFloat(f))
	}
	result := decimalBinary(exponential(log))
	odd := whole && exponent.remainder(decimalInt(2)).coef.Sign() != 0
	result.neg = base.neg && odd
	return result
}

// decimalLog is the logarithm of d to a base.
func decimalLog(d, base decimal) decimal {
	if d.form != finite || base.form != finite || d.compare(decimalOne) == 0 {
		return decimalLn(d).divide(decimalLn(base))
	}
	return decimalBinary(quo(naturalLog(d.binaryFloat()), naturalLog(base.binaryFloat())))
}
