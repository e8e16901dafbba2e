package expr

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The bounds of IEEE 754 decimal128.
const (
	decimalDigits = 34
	decimalMinExp = -6176
	decimalMaxExp = 6111
)

type form byte

const (
	finite form = iota
	infinite
	notANumber
)

// decimal is a decimal number: coef * 10^exp, negative if neg is set, so that zero keeps its sign. It is exact; value
// rounds it to what decimal128 holds.
type decimal struct {
	form form
	neg  bool
	coef *big.Int // never negative, never changed
	exp  int
}

var bigTen = big.NewInt(10)

func power10(n int) *big.Int { return new(big.Int).Exp(bigTen, big.NewInt(int64(n)), nil) }

func decimalInt(n int64) decimal {
	c := big.NewInt(n)
	return decimal{neg: n < 0, coef: c.Abs(c)}
}

// decimalOf returns a number as a decimal; a double keeps 15 digits, as in the real server.
func decimalOf(v Value) decimal {
	switch v.Type {
	case bson.TypeDouble:
		return decimalFloat(v.AsFloat64())
	case bson.TypeDecimal128:
		return decimalBits(bits128(v))
	}
	return decimalInt(v.AsInt64())
}

func bits128(v Value) bson.Decimal128 {
	return bson.NewDecimal128(binary.LittleEndian.Uint64(v.Data[8:]), binary.LittleEndian.Uint64(v.Data))
}

func decimalBits(b bson.Decimal128) decimal {
	high, _ := b.GetBytes()
	neg := high>>63 == 1
	if b.IsNaN() {
		return decimal{form: notANumber, neg: neg}
	}
	if b.IsInf() != 0 {
		return decimal{form: infinite, neg: neg}
	}
	n, exp, err := b.BigInt()
	if err != nil {
		return decimal{form: notANumber}
	}
	return decimal{neg: neg, coef: n.Abs(n), exp: exp}
}

// decimalFloat rounds a double to 15 digits, zeros at their end included.
func decimalFloat(f float64) decimal {
	switch {
	case math.IsNaN(f):
		return decimal{form: notANumber, neg: math.Signbit(f)}
	case math.IsInf(f, 0):
		return decimal{form: infinite, neg: f < 0}
	case f == 0:
		return decimal{neg: math.Signbit(f), coef: new(big.Int)}
	}
	d, _ := parseDecimal(strconv.FormatFloat(f, 'e', 14, 64))
	return d
}

// maxExponent bounds the exponents that are read: a number beyond them is zero or infinite as well.
const maxExponent = 20000

// parseDecimal reads a decimal number as it is written: digits, point, exponent, or the names of the special ones.
func parseDecimal(s string) (decimal, bool) {
	d := decimal{}
	rest := s
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		d.neg = rest[0] == '-'
		rest = rest[1:]
	}
	switch strings.ToLower(rest) {
	case "inf", "infinity":
		d.form = infinite
		return d, true
	case "nan":
		d.form = notANumber
		return d, true
	}
	if at := strings.IndexAny(rest, "eE"); at >= 0 {
		exp, err := strconv.ParseInt(rest[at+1:], 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return decimal{}, false
		}
		d.exp, rest = int(max(-maxExponent, min(maxExponent, exp))), rest[:at]
	}
	whole, fraction, _ := strings.Cut(rest, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return decimal{}, false
	}
	d.exp -= len(fraction)
	digits, dropped := leadingDigits(digits)
	d.exp += dropped
	d.coef, _ = new(big.Int).SetString(digits, 10)
	return d, true
}

// leadingDigits returns enough of many digits to round them to a decimal's, and how many fewer they are.
func leadingDigits(digits string) (leading string, dropped int) {
	const enough = 4 * decimalDigits
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

func (d decimal) isZero() bool { return d.form == finite && d.coef.Sign() == 0 }

func (d decimal) digits() int { return len(d.coef.String()) }

// rounding tells how to drop digits.
type rounding byte

const (
	halfEven rounding = iota
	towardZero
	up
	down
)

// drop divides the coefficient by 10^n and rounds.
func (d decimal) drop(n int, mode rounding) decimal {
	q, r := new(big.Int).QuoRem(d.coef, power10(n), new(big.Int))
	if d.roundsAway(q, r, n, mode) {
		q.Add(q, big.NewInt(1))
	}
	return decimal{neg: d.neg, coef: q, exp: d.exp + n}
}

func (d decimal) roundsAway(q, rest *big.Int, n int, mode rounding) bool {
	switch mode {
	case towardZero:
		return false
	case up:
		return rest.Sign() != 0 && !d.neg
	case down:
		return rest.Sign() != 0 && d.neg
	case halfEven:
	}
	c := new(big.Int).Lsh(rest, 1).Cmp(power10(n))
	return c > 0 || c == 0 && q.Bit(0) == 1
}

// fit rounds a finite decimal to what decimal128 holds: 34 digits and its exponents, else infinity.
func (d decimal) fit() decimal {
	if d.form != finite {
		return d
	}
	if over := max(d.digits()-decimalDigits, decimalMinExp-d.exp); over > 0 {
		over = min(over, d.digits()+1+max(0, decimalMinExp-d.exp-d.digits()))
		d = d.drop(over, halfEven)
		if d.digits() > decimalDigits {
			d = d.drop(1, halfEven)
		}
	}
	if d.exp > decimalMaxExp {
		pad := d.exp - decimalMaxExp
		switch {
		case d.isZero():
			pad = 0
		case d.digits()+pad > decimalDigits:
			return decimal{form: infinite, neg: d.neg}
		}
		d = decimal{neg: d.neg, coef: new(big.Int).Mul(d.coef, power10(pad)), exp: decimalMaxExp}
	}
	return d
}

// value returns the decimal as a Value, rounded.
func (d decimal) value() Value {
	d = d.fit()
	b := bson.NewDecimal128(0x7c00<<48, 0)
	switch d.form {
	case infinite:
		b = bson.NewDecimal128(0x7800<<48, 0)
	case finite:
		b, _ = bson.ParseDecimal128FromBigInt(d.coef, d.exp) // it fits
	case notANumber:
	}
	high, low := b.GetBytes()
	if d.neg {
		high |= 1 << 63
	}
	data := binary.LittleEndian.AppendUint64(nil, low)
	return Value{Type: bson.TypeDecimal128, Data: binary.LittleEndian.AppendUint64(data, high)}
}

// rat returns a finite decimal exactly.
func (d decimal) rat() *big.Rat {
	r := new(big.Rat)
	if d.exp < 0 {
		r.SetFrac(d.coef, power10(-d.exp))
	} else {
		r.SetInt(new(big.Int).Mul(d.coef, power10(d.exp)))
	}
	if d.neg {
		r.Neg(r)
	}
	return r
}

// float returns the nearest double.
func (d decimal) float() float64 {
	switch d.form {
	case notANumber:
		return math.Copysign(math.NaN(), float64(sign(d.neg)))
	case infinite:
		return math.Inf(sign(d.neg))
	case finite:
	}
	f, _ := strconv.ParseFloat(d.coef.String()+"e"+strconv.Itoa(d.exp), 64)
	if d.neg {
		return -f
	}
	return f
}

func sign(neg bool) int {
	if neg {
		return -1
	}
	return 1
}

// String writes the decimal as the real server does.
func (d decimal) String() string { return bits128(d.value()).String() }
