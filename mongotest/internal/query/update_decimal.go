package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"
)

// decimals applies the operation where one side is a Decimal128.
func (a arithmetic) decimals(old Value) Value {
	x, y := old.toDecimal(), a.operand.toDecimal()
	if y.IsNaN() {
		return decimalValue(signed(nan, signBit(y)))
	}
	if x.IsNaN() {
		return decimalValue(signed(nan, signBit(x)))
	}
	if x.IsInf() != 0 || y.IsInf() != 0 {
		return decimalValue(a.specials(x, y))
	}
	m, em, _ := x.BigInt()
	n, en, _ := y.BigInt()
	if a.mul {
		return decimalValue(signed(roundDecimal(m.Mul(m, n), em+en), signBit(x) != signBit(y)))
	}
	exponent := min(em, en)
	m.Mul(m, pow10(em-exponent))
	n.Mul(n, pow10(en-exponent))
	sum := m.Add(m, n)
	return decimalValue(signed(roundDecimal(sum, exponent), sum.Sign() < 0 || sum.Sign() == 0 && signBit(x) && signBit(y)))
}

// specials is the operation where a side is infinite.
func (a arithmetic) specials(x, y bson.Decimal128) bson.Decimal128 {
	f, g := doubleOf(x), doubleOf(y)
	result := f + g
	if a.mul {
		result = f * g
	}
	d, _ := bson.ParseDecimal128(decimalText(result))
	return d
}
