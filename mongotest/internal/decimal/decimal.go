// Package decimal is arithmetic with decimal128 (IEEE 754) as the expressions of MongoDB have it: exact, rounded only where a value is made, and its
// functions with more digits than the result needs.
package decimal

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// The bounds of IEEE 754 decimal128.
const (
	Digits = 34
	MinExp = -6176
	MaxExp = 6111
)

// Form is what a decimal is.
type Form byte

// The forms.
const (
	Finite Form = iota
	Infinite
	NotANumber
)

// Number is a decimal number: coef * 10^exp, negative if Neg is set, so that zero keeps its sign. It is exact; Value
// rounds it to what decimal128 holds.
type Number struct {
	Form Form
	Neg  bool
	Coef *big.Int // never negative, never changed
	Exp  int
}

var bigTen = big.NewInt(10)

func power10(n int) *big.Int { return new(big.Int).Exp(bigTen, big.NewInt(int64(n)), nil) }

// Int returns an integer.
func Int(n int64) Number {
	c := big.NewInt(n)
	return Number{Neg: n < 0, Coef: c.Abs(c)}
}

// Of returns a number as a decimal; a double keeps 15 digits, as in the real server.
func Of(v query.Value) Number {
	switch v.Type {
	case bson.TypeDouble:
		return FromFloat(v.AsFloat64())
	case bson.TypeDecimal128:
		return FromBits(Bits(v))
	}
	return Int(v.AsInt64())
}

// Bits returns the bits of a BSON value that is a decimal128.
func Bits(v query.Value) bson.Decimal128 {
	return bson.NewDecimal128(binary.LittleEndian.Uint64(v.Data[8:]), binary.LittleEndian.Uint64(v.Data))
}

// FromBits returns the decimal of a decimal128.
func FromBits(b bson.Decimal128) Number {
	high, _ := b.GetBytes()
	neg := high>>63 == 1
	if b.IsNaN() {
		return Number{Form: NotANumber, Neg: neg}
	}
	if b.IsInf() != 0 {
		return Number{Form: Infinite, Neg: neg}
	}
	n, exp, err := b.BigInt()
	if err != nil {
		return Number{Form: NotANumber}
	}
	return Number{Neg: neg, Coef: n.Abs(n), Exp: exp}
}

// FromFloat rounds a double to 15 digits, zeros at their end included.
func FromFloat(f float64) Number {
	switch {
	case math.IsNaN(f):
		return Number{Form: NotANumber, Neg: math.Signbit(f)}
	case math.IsInf(f, 0):
		return Number{Form: Infinite, Neg: f < 0}
	case f == 0:
		return Number{Neg: math.Signbit(f), Coef: new(big.Int)}
	}
	d, _ := Parse(strconv.FormatFloat(f, 'e', 14, 64))
	return d
}

// maxExponent bounds the exponents that are read: a number beyond them is zero or infinite as well.
const maxExponent = 20000

// Parse reads a decimal number as it is written: digits, point, exponent, or the names of the special ones.
func Parse(s string) (Number, bool) {
	d := Number{}
	rest := s
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		d.Neg = rest[0] == '-'
		rest = rest[1:]
	}
	switch strings.ToLower(rest) {
	case "inf", "infinity":
		d.Form = Infinite
		return d, true
	case "nan":
		d.Form = NotANumber
		return d, true
	}
	if at := strings.IndexAny(rest, "eE"); at >= 0 {
		exp, err := strconv.ParseInt(rest[at+1:], 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return Number{}, false
		}
		d.Exp, rest = int(max(-maxExponent, min(maxExponent, exp))), rest[:at]
	}
	whole, fraction, _ := strings.Cut(rest, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return Number{}, false
	}
	d.Exp -= len(fraction)
	digits, dropped := leadingDigits(digits)
	d.Exp += dropped
	d.Coef, _ = new(big.Int).SetString(digits, 10)
	return d, true
}

// leadingDigits returns enough of many digits to round them to a decimal's, and how many fewer they are.
func leadingDigits(digits string) (leading string, dropped int) {
	const enough = 4 * Digits
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		return "0", 0
	}
	if len(digits) <= enough {
		return digits, 0
	}
	leading, rest := digits[:enough], digits[enough:]
	if strings.Trim(rest, "0") == "" {
		return leading, len(rest)
	}
	return leading + "1", len(rest) - 1 // the digit stands for all that are not zero
}

// IsZero reports whether the decimal is 0 or -0.
func (d Number) IsZero() bool { return d.Form == Finite && d.Coef.Sign() == 0 }

// Digits returns how many digits the coefficient has.
func (d Number) Digits() int { return len(d.Coef.String()) }

// Rounding tells how to drop digits.
type Rounding byte

// The roundings.
const (
	HalfEven Rounding = iota
	TowardZero
	Up
	Down
)

// Drop divides the coefficient by 10^n and rounds.
func (d Number) Drop(n int, mode Rounding) Number {
	q, r := new(big.Int).QuoRem(d.Coef, power10(n), new(big.Int))
	if d.roundsAway(q, r, n, mode) {
		q.Add(q, big.NewInt(1))
	}
	return Number{Neg: d.Neg, Coef: q, Exp: d.Exp + n}
}

func (d Number) roundsAway(q, rest *big.Int, n int, mode Rounding) bool {
	switch mode {
	case TowardZero:
		return false
	case Up:
		return rest.Sign() != 0 && !d.Neg
	case Down:
		return rest.Sign() != 0 && d.Neg
	case HalfEven:
	}
	c := new(big.Int).Lsh(rest, 1).Cmp(power10(n))
	return c > 0 || c == 0 && q.Bit(0) == 1
}

// Fit rounds a finite decimal to what decimal128 holds: 34 digits and its exponents, else infinity.
func (d Number) Fit() Number {
	if d.Form != Finite {
		return d
	}
	if over := max(d.Digits()-Digits, MinExp-d.Exp); over > 0 {
		over = min(over, d.Digits()+1+max(0, MinExp-d.Exp-d.Digits()))
		d = d.Drop(over, HalfEven)
		if d.Digits() > Digits {
			d = d.Drop(1, HalfEven)
		}
	}
	if d.Exp > MaxExp {
		pad := d.Exp - MaxExp
		switch {
		case d.IsZero():
			pad = 0
		case d.Digits()+pad > Digits:
			return Number{Form: Infinite, Neg: d.Neg}
		}
		d = Number{Neg: d.Neg, Coef: new(big.Int).Mul(d.Coef, power10(pad)), Exp: MaxExp}
	}
	return d
}

// Value returns the decimal as a query.Value, rounded.
func (d Number) Value() query.Value {
	d = d.Fit()
	b := bson.NewDecimal128(0x7c00<<48, 0)
	switch d.Form {
	case Infinite:
		b = bson.NewDecimal128(0x7800<<48, 0)
	case Finite:
		b, _ = bson.ParseDecimal128FromBigInt(d.Coef, d.Exp) // it fits
	case NotANumber:
	}
	high, low := b.GetBytes()
	if d.Neg {
		high |= 1 << 63
	}
	data := binary.LittleEndian.AppendUint64(nil, low)
	return query.Value{Type: bson.TypeDecimal128, Data: binary.LittleEndian.AppendUint64(data, high)}
}

// rat returns a finite decimal exactly.
func (d Number) rat() *big.Rat {
	r := new(big.Rat)
	if d.Exp < 0 {
		r.SetFrac(d.Coef, power10(-d.Exp))
	} else {
		r.SetInt(new(big.Int).Mul(d.Coef, power10(d.Exp)))
	}
	if d.Neg {
		r.Neg(r)
	}
	return r
}

// Float returns the nearest double.
func (d Number) Float() float64 {
	switch d.Form {
	case NotANumber:
		return math.Copysign(math.NaN(), float64(Sign(d.Neg)))
	case Infinite:
		return math.Inf(Sign(d.Neg))
	case Finite:
	}
	f, _ := strconv.ParseFloat(d.Coef.String()+"e"+strconv.Itoa(d.Exp), 64)
	if d.Neg {
		return -f
	}
	return f
}

// Sign returns -1 or 1.
func Sign(neg bool) int {
	if neg {
		return -1
	}
	return 1
}

// String writes the decimal as the real server does.
func (d Number) String() string { return Bits(d.Value()).String() }
