package query

import (
	"encoding/binary"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// IsNumber reports whether the value is of a numeric type.
func (v Value) IsNumber() bool {
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return true
	}
	return false
}

// Integer returns the value as an integer if it is a number that is one.
func (v Value) Integer() (int64, bool) {
	if !v.IsNumber() {
		return 0, false
	}
	if v.Type == bson.TypeDecimal128 {
		r, ok := v.rational()
		if !ok || !r.IsInt() || !r.Num().IsInt64() {
			return 0, false
		}
		return r.Num().Int64(), true
	}
	if v.Type == bson.TypeDouble {
		f := v.double()
		return int64(f), f == math.Trunc(f) && f >= -1<<63 && f < 1<<63
	}
	return v.AsInt64(), true
}

// AsInt64 returns an int32, int64 or date as an int64.
func (v Value) AsInt64() int64 {
	if v.Type == bson.TypeInt32 {
		return int64(v.int32())
	}
	return v.int64()
}

// AsFloat64 returns any number, or a date, as a double; another value is 0.
func (v Value) AsFloat64() float64 {
	switch v.Type {
	case bson.TypeDouble:
		return v.double()
	case bson.TypeDecimal128:
		f, _ := strconv.ParseFloat(v.decimal().String(), 64)
		if math.IsNaN(f) && signBit(v.decimal()) {
			return math.Copysign(f, -1)
		}
		return f
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDateTime:
		return float64(v.AsInt64())
	}
	return 0
}

// Rounded returns the int64 that a number stands for as an argument: a double loses its fraction, a decimal is rounded half to
// even. It reports whether there is one: NaN, a number out of range and a value that is no number have none.
func (v Value) Rounded() (int64, bool) {
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64:
		return v.AsInt64(), true
	case bson.TypeDouble:
		f := math.Trunc(v.double())
		if f >= -1<<63 && f < 1<<63 { // not NaN
			return int64(f), true
		}
	case bson.TypeDecimal128:
		return roundedDecimal(v.decimal())
	}
	return 0, false
}

func roundedDecimal(d bson.Decimal128) (int64, bool) {
	n, exponent, err := d.BigInt()
	switch {
	case err != nil: // NaN or infinite
		return 0, false
	case n.Sign() == 0 || exponent < -decimalDigits: // less than a half
		return 0, true
	case exponent > decimalDigits:
		return 0, false
	case exponent < 0:
		n = halfEven(n, -exponent)
	default:
		n.Mul(n, pow10(exponent))
	}
	return n.Int64(), n.IsInt64()
}

// Clamped returns the int64 that a number stands for as an argument, or the one next to it if that is out of range. That of NaN, and
// of a value that is no number, is 0.
func (v Value) Clamped() int64 {
	if n, ok := v.Rounded(); ok {
		return n
	}
	switch f := v.AsFloat64(); {
	case f > 0:
		return math.MaxInt64
	case f < 0:
		return math.MinInt64
	}
	return 0
}

// Clamped32 returns the same with 32 bits.
func (v Value) Clamped32() int { return int(max(math.MinInt32, min(v.Clamped(), math.MaxInt32))) }

// WholeNumber returns a number that is an integer and not negative, or else the real server's words for its refusal; key is the name
// of the field in them.
func WholeNumber(key string, v Value) (int64, string) {
	n, refused := IntegerOf(key, v)
	if refused == "" && n < 0 {
		refused = "Expected a non-negative number in: " + key + ": " + v.Whole()
	}
	return n, refused
}

// IntegerOf returns a number that is an integer, or else the real server's words for its refusal; key is the name
// of the field in them.
func IntegerOf(key string, v Value) (int64, string) {
	at := key + ": " + v.Whole()
	if !v.IsNumber() {
		return 0, "Expected a number in: " + at
	}
	if n, ok := v.Integer(); ok {
		return n, ""
	}
	if v.Type == bson.TypeDouble {
		switch f := v.double(); {
		case math.IsNaN(f):
			return 0, "Expected an integer, but found NaN in: " + at
		case math.Abs(f) < 1<<63:
			return 0, "Expected an integer: " + at
		}
	}
	return 0, "Cannot represent as a 64-bit integer: " + at
}

func (v Value) int32() int32    { return int32(binary.LittleEndian.Uint32(v.Data)) }
func (v Value) int64() int64    { return int64(binary.LittleEndian.Uint64(v.Data)) }
func (v Value) double() float64 { return math.Float64frombits(binary.LittleEndian.Uint64(v.Data)) }

// AppendSmallest appends an integer, with 32 bits if it fits into them.
func AppendSmallest(dst []byte, key string, n int64) []byte {
	if n == int64(int32(n)) {
		return wire.AppendInt32(dst, key, int32(n))
	}
	return wire.AppendInt64(dst, key, n)
}
