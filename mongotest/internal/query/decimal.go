package query

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The bounds of a Decimal128: how many digits it has, and its exponents.
const (
	decimalDigits      = 34
	decimalMinExponent = -6176
	decimalMaxExponent = 6111
)

const decimalSign = 1 << 63

var nan = bson.NewDecimal128(0x7c00<<48, 0)

func signBit(d bson.Decimal128) bool {
	high, _ := d.GetBytes()
	return high&decimalSign != 0
}

// signed gives a result its sign, which an integer of zero cannot have.
func signed(d bson.Decimal128, negative bool) bson.Decimal128 {
	high, low := d.GetBytes()
	high &^= decimalSign
	if negative {
		high |= decimalSign
	}
	return bson.NewDecimal128(high, low)
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// roundDecimal returns n times ten to the exponent with as many digits, and an exponent, as a Decimal128 has, half to even.
func roundDecimal(n *big.Int, exponent int) bson.Decimal128 {
	digits := len(new(big.Int).Abs(n).String())
	switch excess := max(digits-decimalDigits, decimalMinExponent-exponent); {
	case excess > digits: // less than a tenth of the smallest
		n, exponent = new(big.Int), decimalMinExponent
	case excess > 0:
		n, exponent = halfEven(n, excess), exponent+excess
	}
	if n.Sign() == 0 {
		exponent = min(exponent, decimalMaxExponent)
	}
	d, ok := bson.ParseDecimal128FromBigInt(n, exponent)
	if !ok {
		d, _ = bson.ParseDecimal128(map[bool]string{true: "-Infinity", false: "Infinity"}[n.Sign() < 0])
	}
	return d
}

// halfEven returns n without its last digits, rounded half to even.
func halfEven(n *big.Int, digits int) *big.Int {
	unit := pow10(digits)
	whole, rest := new(big.Int).QuoRem(n, unit, new(big.Int))
	half := rest.Lsh(rest.Abs(rest), 1).Cmp(unit)
	if half > 0 || half == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(int64(n.Sign())))
	}
	return whole
}

// toDecimal returns a number as a Decimal128, a double with the digits that it surely has.
func (v Value) toDecimal() bson.Decimal128 {
	switch v.Type {
	case bson.TypeDecimal128:
		return v.decimal()
	case bson.TypeDouble:
		d, _ := bson.ParseDecimal128(decimalText(v.double()))
		return signed(d, math.Signbit(v.double()))
	}
	d, _ := bson.ParseDecimal128(strconv.FormatInt(v.AsInt64(), 10))
	return d
}

func decimalText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return strconv.FormatFloat(f, 'f', 0, 64) // with its sign
	}
	return strconv.FormatFloat(f, 'e', 14, 64)
}

func decimalValue(d bson.Decimal128) Value {
	high, low := d.GetBytes()
	data := binary.LittleEndian.AppendUint64(nil, low)
	return Value{bson.TypeDecimal128, binary.LittleEndian.AppendUint64(data, high)}
}

// doubleOf returns a double of the same sign, zero or infinity as d.
func doubleOf(d bson.Decimal128) float64 {
	if sign := d.IsInf(); sign != 0 {
		return math.Inf(sign)
	}
	n, _, _ := d.BigInt()
	return float64(n.Sign())
}
