package expr

import "math/big"

var nan = decimal{form: notANumber}

// givesNaN reports whether one of two decimals is no number: an operation on them gives the first that is none.
func (d decimal) givesNaN(e decimal) bool { return d.form == notANumber || e.form == notANumber }

func (d decimal) firstNaN(e decimal) decimal {
	if d.form == notANumber {
		return d
	}
	return e
}

// signed returns the coefficient with its sign, scaled to a smaller exponent.
func (d decimal) signed(exp int) *big.Int {
	n := new(big.Int).Mul(d.coef, power10(d.exp-exp))
	if d.neg {
		n.Neg(n)
	}
	return n
}

func fromSigned(n *big.Int, exp int) decimal {
	return decimal{neg: n.Sign() < 0, coef: new(big.Int).Abs(n), exp: exp}
}

func (d decimal) negate() decimal {
	d.neg = d.neg != (d.form != notANumber)
	return d
}

func (d decimal) abs() decimal {
	d.neg = false
	return d
}

func (d decimal) add(e decimal) decimal {
	switch {
	case d.givesNaN(e):
		return d.firstNaN(e)
	case d.form == infinite && e.form == infinite && d.neg != e.neg:
		return nan
	case d.form == infinite:
		return d
	case e.form == infinite:
		return e
	}
	exp := min(d.exp, e.exp)
	sum := fromSigned(new(big.Int).Add(d.signed(exp), e.signed(exp)), exp)
	if sum.isZero() {
		sum.neg = d.neg && e.neg
	}
	return sum.fit()
}

func (d decimal) subtract(e decimal) decimal { return d.add(e.negate()) }

func (d decimal) multiply(e decimal) decimal {
	neg := d.neg != e.neg
	switch {
	case d.givesNaN(e):
		return d.firstNaN(e)
	case d.form == infinite || e.form == infinite:
		if d.isZero() || e.isZero() {
			return nan
		}
		return decimal{form: infinite, neg: neg}
	}
	return decimal{neg: neg, coef: new(big.Int).Mul(d.coef, e.coef), exp: d.exp + e.exp}.fit()
}

// divide returns the quotient; where it is exact its exponent is as near to the difference of the two as it gets.
func (d decimal) divide(e decimal) decimal {
	neg := d.neg != e.neg
	switch {
	case d.givesNaN(e):
		return d.firstNaN(e)
	case d.form == infinite && e.form == infinite, d.isZero() && e.isZero():
		return nan
	case d.form == infinite || e.isZero():
		return decimal{form: infinite, neg: neg}
	case e.form == infinite:
		return decimal{neg: neg, coef: new(big.Int), exp: decimalMinExp}
	}
	ideal := d.exp - e.exp
	scale := max(0, decimalDigits+2+e.digits()-d.digits())
	q, rest := new(big.Int).QuoRem(new(big.Int).Mul(d.coef, power10(scale)), e.coef, new(big.Int))
	result := decimal{neg: neg, coef: q, exp: ideal - scale}
	if rest.Sign() != 0 {
		return result.sticky().fit()
	}
	return result.strip(ideal).fit()
}

// sticky appends a digit that stands for what follows, so that rounding sees that the number is not exact.
func (d decimal) sticky() decimal {
	c := new(big.Int).Mul(d.coef, bigTen)
	return decimal{neg: d.neg, coef: c.Add(c, big.NewInt(1)), exp: d.exp - 1}
}

// strip drops zeros at the end while the exponent is below ideal.
func (d decimal) strip(ideal int) decimal {
	for d.exp < ideal {
		q, rest := new(big.Int).QuoRem(d.coef, bigTen, new(big.Int))
		if rest.Sign() != 0 {
			break
		}
		d.coef, d.exp = q, d.exp+1
	}
	return d
}

// remainder has the sign of d.
func (d decimal) remainder(e decimal) decimal {
	switch {
	case d.givesNaN(e):
		return d.firstNaN(e)
	case d.form == infinite || e.isZero():
		return nan
	case e.form == infinite:
		return d
	}
	exp := min(d.exp, e.exp)
	a, b := d.abs().signed(exp), e.abs().signed(exp)
	return decimal{neg: d.neg, coef: a.Rem(a, b), exp: exp}.fit()
}

func (d decimal) sqrt() decimal {
	switch {
	case d.form == notANumber, d.form == infinite && !d.neg:
		return d
	case d.neg && !d.isZero():
		return nan
	}
	ideal := floorHalf(d.exp)
	if d.isZero() {
		return decimal{neg: d.neg, coef: d.coef, exp: ideal}
	}
	exp := d.exp - 2*decimalDigits - 4
	exp -= exp & 1
	n := d.signed(exp)
	root := new(big.Int).Sqrt(n)
	result := decimal{coef: root, exp: exp / 2}
	if new(big.Int).Mul(root, root).Cmp(n) != 0 {
		return result.sticky().fit()
	}
	return result.strip(ideal).fit()
}

func floorHalf(n int) int { return (n - n&1) / 2 }

// quantize rounds to a multiple of 10^exp and gives the result that exponent; a result with too many digits is NaN.
func (d decimal) quantize(exp int, mode rounding) decimal {
	if d.form != finite {
		return d
	}
	if exp > d.exp {
		over := exp - d.exp
		if digits := d.digits(); over > digits+1 {
			// all digits go: a small remainder decides
			return decimal{neg: d.neg, coef: d.coef, exp: -digits - 1}.drop(digits+1, mode).at(exp)
		}
		return d.drop(over, mode)
	}
	if !d.isZero() && d.digits()+d.exp-exp > decimalDigits {
		return nan
	}
	return decimal{neg: d.neg, coef: new(big.Int).Mul(d.coef, power10(d.exp-exp)), exp: exp}
}

func (d decimal) at(exp int) decimal {
	d.exp = exp
	return d
}

// integral rounds to an integer; an integer stays as it is written.
func (d decimal) integral(mode rounding) decimal {
	if d.form != finite || d.exp >= 0 {
		return d
	}
	return d.quantize(0, mode)
}

// compare orders two decimals; NaN is below all.
func (d decimal) compare(e decimal) int {
	if d.form != finite || e.form != finite {
		return d.rank() - e.rank()
	}
	return d.rat().Cmp(e.rat())
}

func (d decimal) rank() int {
	switch d.form {
	case notANumber:
		return -2
	case infinite:
		return sign(d.neg)
	case finite:
	}
	return 0
}
