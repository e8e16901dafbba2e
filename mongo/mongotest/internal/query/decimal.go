package query

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// decimalDigits is how many digits a Decimal128 has.
const decimalDigits = 34

// decimals applies the operation where one side is a Decimal128.
func (a arithmetic) decimals(old Value) Value {
	x, y := old.toDecimal(), a.operand.toDecimal()
	if sx, sy := specialOf(x), specialOf(y); sx != 0 || sy != 0 {
		return decimalValue(a.specials(x, y))
	}
	m, em, _ := x.BigInt()
	n, en, _ := y.BigInt()
	if a.mul {
		return decimalValue(negated(roundDecimal(m.Mul(m, n), em+en), x, y))
	}
	exponent := min(em, en)
	m.Mul(m, pow10(em-exponent))
	n.Mul(n, pow10(en-exponent))
	return decimalValue(roundDecimal(m.Add(m, n), exponent))
}

// negated gives a product of zero its sign, which an integer cannot have.
func negated(product, x, y bson.Decimal128) bson.Decimal128 {
	high, low := product.GetBytes()
	hx, _ := x.GetBytes()
	hy, _ := y.GetBytes()
	const sign = 1 << 63
	return bson.NewDecimal128(high&^sign|(hx^hy)&sign, low)
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// roundDecimal returns n times ten to the exponent with as many digits as there are, half to even.
func roundDecimal(n *big.Int, exponent int) bson.Decimal128 {
	excess := len(new(big.Int).Abs(n).String()) - decimalDigits
	if excess > 0 {
		n, exponent = halfEven(n, excess), exponent+excess
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
		return d
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
	}
	return strconv.FormatFloat(f, 'e', 14, 64)
}

func decimalValue(d bson.Decimal128) Value {
	high, low := d.GetBytes()
	data := binary.LittleEndian.AppendUint64(nil, low)
	return Value{bson.TypeDecimal128, binary.LittleEndian.AppendUint64(data, high)}
}

func specialOf(d bson.Decimal128) int { return decimalValue(d).special() }

// specials is the operation where a side is infinite or no number.
func (a arithmetic) specials(x, y bson.Decimal128) bson.Decimal128 {
	f, g := doubleOf(x), doubleOf(y)
	result := f + g
	if a.mul {
		result = f * g
	}
	d, _ := bson.ParseDecimal128(decimalText(result))
	return d
}

// doubleOf returns a double of the same sign, zero, infinity or NaN as d.
func doubleOf(d bson.Decimal128) float64 {
	switch specialOf(d) {
	case -2:
		return math.NaN()
	case -1:
		return math.Inf(-1)
	case 1:
		return math.Inf(1)
	}
	n, _, _ := d.BigInt()
	return float64(n.Sign())
}
