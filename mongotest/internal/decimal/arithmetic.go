package decimal

import "math/big"

// NaN is no number.
var NaN = Number{Form: NotANumber}

// GivesNaN reports whether one of two decimals is no number: an operation on them gives the first that is none.
func (d Number) GivesNaN(e Number) bool { return d.Form == NotANumber || e.Form == NotANumber }

// FirstNaN returns the first of two that is no number.
func (d Number) FirstNaN(e Number) Number {
	if d.Form == NotANumber {
		return d
	}
	return e
}

// Signed returns the coefficient with its sign, scaled to a smaller exponent.
func (d Number) Signed(exp int) *big.Int {
	n := new(big.Int).Mul(d.Coef, power10(d.Exp-exp))
	if d.Neg {
		n.Neg(n)
	}
	return n
}

func fromSigned(n *big.Int, exp int) Number {
	return Number{Neg: n.Sign() < 0, Coef: new(big.Int).Abs(n), Exp: exp}
}

func (d Number) negate() Number {
	d.Neg = d.Neg != (d.Form != NotANumber)
	return d
}

// Abs returns the decimal without its sign.
func (d Number) Abs() Number {
	d.Neg = false
	return d
}

// Add returns the sum.
func (d Number) Add(e Number) Number {
	switch {
	case d.GivesNaN(e):
		return d.FirstNaN(e)
	case d.Form == Infinite && e.Form == Infinite && d.Neg != e.Neg:
		return NaN
	case d.Form == Infinite:
		return d
	case e.Form == Infinite:
		return e
	}
	exp := min(d.Exp, e.Exp)
	sum := fromSigned(new(big.Int).Add(d.Signed(exp), e.Signed(exp)), exp)
	if sum.IsZero() {
		sum.Neg = d.Neg && e.Neg
	}
	return sum.Fit()
}

// Subtract returns the difference.
func (d Number) Subtract(e Number) Number { return d.Add(e.negate()) }

// Multiply returns the product.
func (d Number) Multiply(e Number) Number {
	neg := d.Neg != e.Neg
	switch {
	case d.GivesNaN(e):
		return d.FirstNaN(e)
	case d.Form == Infinite || e.Form == Infinite:
		if d.IsZero() || e.IsZero() {
			return NaN
		}
		return Number{Form: Infinite, Neg: neg}
	}
	return Number{Neg: neg, Coef: new(big.Int).Mul(d.Coef, e.Coef), Exp: d.Exp + e.Exp}.Fit()
}

// Divide returns the quotient; where it is exact its exponent is as near to the difference of the two as it gets.
func (d Number) Divide(e Number) Number {
	neg := d.Neg != e.Neg
	switch {
	case d.GivesNaN(e):
		return d.FirstNaN(e)
	case d.Form == Infinite && e.Form == Infinite, d.IsZero() && e.IsZero():
		return NaN
	case d.Form == Infinite || e.IsZero():
		return Number{Form: Infinite, Neg: neg}
	case e.Form == Infinite:
		return Number{Neg: neg, Coef: new(big.Int), Exp: MinExp}
	}
	ideal := d.Exp - e.Exp
	scale := max(0, Digits+2+e.Digits()-d.Digits())
	q, rest := new(big.Int).QuoRem(new(big.Int).Mul(d.Coef, power10(scale)), e.Coef, new(big.Int))
	result := Number{Neg: neg, Coef: q, Exp: ideal - scale}
	if rest.Sign() != 0 {
		return result.sticky().Fit()
	}
	return result.Strip(ideal).Fit()
}

// sticky appends a digit that stands for what follows, so that rounding sees that the number is not exact.
func (d Number) sticky() Number {
	c := new(big.Int).Mul(d.Coef, bigTen)
	return Number{Neg: d.Neg, Coef: c.Add(c, big.NewInt(1)), Exp: d.Exp - 1}
}

// Strip drops zeros at the end while the exponent is below ideal.
func (d Number) Strip(ideal int) Number {
	for d.Exp < ideal {
		q, rest := new(big.Int).QuoRem(d.Coef, bigTen, new(big.Int))
		if rest.Sign() != 0 {
			break
		}
		d.Coef, d.Exp = q, d.Exp+1
	}
	return d
}

// Remainder has the sign of d.
func (d Number) Remainder(e Number) Number {
	switch {
	case d.GivesNaN(e):
		return d.FirstNaN(e)
	case d.Form == Infinite || e.IsZero():
		return NaN
	case e.Form == Infinite:
		return d
	}
	exp := min(d.Exp, e.Exp)
	a, b := d.Abs().Signed(exp), e.Abs().Signed(exp)
	return Number{Neg: d.Neg, Coef: a.Rem(a, b), Exp: exp}.Fit()
}

// Sqrt returns the square root.
func (d Number) Sqrt() Number {
	switch {
	case d.Form == NotANumber, d.Form == Infinite && !d.Neg:
		return d
	case d.Neg && !d.IsZero():
		return NaN
	}
	ideal := floorHalf(d.Exp)
	if d.IsZero() {
		return Number{Neg: d.Neg, Coef: d.Coef, Exp: ideal}
	}
	exp := d.Exp - 2*Digits - 4
	exp -= exp & 1
	n := d.Signed(exp)
	root := new(big.Int).Sqrt(n)
	result := Number{Coef: root, Exp: exp / 2}
	if new(big.Int).Mul(root, root).Cmp(n) != 0 {
		return result.sticky().Fit()
	}
	return result.Strip(ideal).Fit()
}

func floorHalf(n int) int { return (n - n&1) / 2 }

// Quantize rounds to a multiple of 10^exp and gives the result that exponent; a result with too many digits is NaN.
func (d Number) Quantize(exp int, mode Rounding) Number {
	if d.Form != Finite {
		return d
	}
	if exp > d.Exp {
		over := exp - d.Exp
		if digits := d.Digits(); over > digits+1 {
			// all digits go: a small remainder decides
			return Number{Neg: d.Neg, Coef: d.Coef, Exp: -digits - 1}.Drop(digits+1, mode).at(exp)
		}
		return d.Drop(over, mode)
	}
	if !d.IsZero() && d.Digits()+d.Exp-exp > Digits {
		return NaN
	}
	return Number{Neg: d.Neg, Coef: new(big.Int).Mul(d.Coef, power10(d.Exp-exp)), Exp: exp}
}

func (d Number) at(exp int) Number {
	d.Exp = exp
	return d
}

// Integral rounds to an integer; an integer stays as it is written.
func (d Number) Integral(mode Rounding) Number {
	if d.Form != Finite || d.Exp >= 0 {
		return d
	}
	return d.Quantize(0, mode)
}

// Compare orders two decimals; NaN is below all.
func (d Number) Compare(e Number) int {
	if d.Form != Finite || e.Form != Finite {
		return d.rank() - e.rank()
	}
	return d.rat().Cmp(e.rat())
}

func (d Number) rank() int {
	switch d.Form {
	case NotANumber:
		return -2
	case Infinite:
		return Sign(d.Neg)
	case Finite:
	}
	return 0
}
