package expr

import (
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/decimal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// rounded is $round and $trunc: to a place after the point, or before it where the place is negative.
func rounded(name string, mode decimal.Rounding, whole func(float64) float64) func(*Env, []Expression) (Value, error) {
	return func(env *Env, args []Expression) (Value, error) {
		var number Value
		place := 0
		takers := []taker{
			{0, into(&number, onlyNumber(51081, name))},
			{1, into(&place, func(v Value) (int, error) { return precision(name, v) })},
		}
		if isNull, err := inTurn(env, args, takers[:len(args)]...); isNull || err != nil {
			return null, err
		}
		return roundNumber(name, number, place, mode, whole)
	}
}

func precision(name string, v Value) (int, error) {
	if !v.IsNumber() {
		return 0, mongoerr.Errorf(16004, "can't convert from BSON type %s to long", typeName(v))
	}
	n, err := coercedLong(v)
	if err != nil {
		return 0, err
	}
	_, whole := asWholeLong(v)
	switch {
	case !whole || n != int64(int32(n)):
		return 0, mongoerr.Errorf(51082, "precision argument to  %s must be a integral value", name)
	case n < -20 || n > 100:
		return 0, mongoerr.Errorf(51083, "cannot apply %s with precision value %d value must be in [-20, 100]", name, n)
	}
	return int(n), nil
}

func roundNumber(name string, v Value, place int, mode decimal.Rounding, whole func(float64) float64) (Value, error) {
	switch v.Type {
	case bson.TypeDecimal128:
		return roundDecimal128(decimal.Of(v), place, mode).Value(), nil
	case bson.TypeDouble:
		f := v.AsFloat64()
		if place == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
			return query.Double(whole(f)), nil
		}
		return query.Double(roundDecimal(exactly(f), place, mode).Float()), nil
	}
	if place >= 0 {
		return v, nil
	}
	n := decimal.Int(v.AsInt64()).Quantize(-place, mode).Signed(0)
	if !n.IsInt64() {
		return missing, mongoerr.Errorf(51080,
			"invalid conversion from Decimal128 result in %s resulting from arguments: [%s, %d]", name, spelled(v), place)
	}
	return integerValue(n.Int64(), isLong(v)), nil
}

// roundDecimal128 rounds to a place and shows all digits up to it, as far as there is room for them.
func roundDecimal128(d decimal.Number, place int, mode decimal.Rounding) decimal.Number {
	if d.Form != decimal.Finite {
		return d
	}
	if room := decimal.Digits - d.Digits() - d.Exp; place > room && !d.IsZero() {
		place = room
	}
	return d.Quantize(-place, mode)
}

// roundDecimal rounds to a place; a number with fewer digits after the point stays as it is.
func roundDecimal(d decimal.Number, place int, mode decimal.Rounding) decimal.Number {
	if d.Form != decimal.Finite || -place <= d.Exp {
		return d
	}
	return d.Quantize(-place, mode)
}

// exactly returns a finite double as a decimal with 34 digits.
func exactly(f float64) decimal.Number {
	d, _ := decimal.Parse(new(big.Float).SetFloat64(f).Text('e', decimal.Digits-1))
	return d
}

// asWholeLong returns a number as an int64 if it is one.
func asWholeLong(v Value) (int64, bool) {
	if isDouble(v) {
		f := v.AsFloat64()
		return int64(f), f == math.Trunc(f) && f >= -1<<63 && f < 1<<63
	}
	return v.Integer()
}
