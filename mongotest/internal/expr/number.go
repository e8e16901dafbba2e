package expr

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/decimal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

func isInteger(v Value) bool { return v.Type == bson.TypeInt32 || v.Type == bson.TypeInt64 }
func isDouble(v Value) bool  { return v.Type == bson.TypeDouble }
func isDecimal(v Value) bool { return v.Type == bson.TypeDecimal128 }
func isDate(v Value) bool    { return v.Type == bson.TypeDateTime }

// integerValue returns n as a 32-bit integer if it fits and no 64-bit one is asked for.
func integerValue(n int64, long bool) Value {
	if !long && n == int64(int32(n)) {
		return query.Int32(int32(n))
	}
	return query.Int64(n)
}

func isLong(values ...Value) bool { return anyOf(values, bson.TypeInt64) }

func anyOf(values []Value, t bson.Type) bool {
	for _, v := range values {
		if v.Type == t {
			return true
		}
	}
	return false
}

// onlyNumber refuses a value that is no number.
func onlyNumber(code int32, name string) func(Value) (Value, error) {
	return func(v Value) (Value, error) {
		if !v.IsNumber() {
			return missing, mongoerr.Errorf(code, "%s only supports numeric types, not %s", name, typeName(v))
		}
		return v, nil
	}
}

// asIndex returns a number as an int32, if it is a whole number in that range.
func asIndex(v Value) (int, bool) {
	if isDouble(v) {
		f := v.AsFloat64()
		if f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 && f != math.MinInt32 {
			return 0, false
		}
		return int(f), true
	}
	n, ok := v.Integer()
	return int(n), ok && n == int64(int32(n))
}

// coercedLong returns the int64 that a number stands for as an argument.
func coercedLong(v Value) (int64, error) {
	n, ok := v.Rounded()
	if !ok {
		kind := ""
		if isDecimal(v) {
			kind = "decimal "
		}
		return 0, mongoerr.Errorf(31109, "Can't coerce out of range %svalue %s to long", kind, spelled(v))
	}
	return n, nil
}

func multiplyLong(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	c := a * b
	if c/b != a || a == -1 && b == math.MinInt64 || b == -1 && a == math.MinInt64 {
		return 0, false
	}
	return c, true
}

func addLong(a, b int64) (int64, bool) {
	c := a + b
	return c, (c > a) == (b > 0)
}

func subtractLong(a, b int64) (int64, bool) {
	c := a - b
	return c, (c < a) == (b > 0)
}

// exactSum adds doubles as a pair: the rounded sum, and what rounding lost.
type exactSum struct{ sum, lost float64 }

func (s *exactSum) add(x float64) {
	x, rest := twoSum(x, s.lost)
	s.sum, s.lost = twoSum(s.sum, x)
	s.lost += rest
}

// signedNaN gives the NaN of an operation the sign that processors of the real server's give it: that of the first operand that is
// NaN, and a minus if none is.
func signedNaN(result, a, b float64) float64 {
	switch {
	case !math.IsNaN(result):
		return result
	case math.IsNaN(a):
		return a
	case math.IsNaN(b):
		return b
	}
	return math.Copysign(result, -1)
}

// twoSum returns the rounded sum of two doubles and its error.
func twoSum(a, b float64) (sum, lost float64) {
	sum = signedNaN(a+b, b, a)
	if math.IsInf(sum, 0) || math.IsNaN(sum) {
		return sum, 0
	}
	part := sum - a
	return sum, (a - (sum - part)) + (b - part)
}

// addLong adds a long in two parts, so that it is not rounded to a double first. The parts are those of the real server's, even where
// one would do: what a sum loses depends on them.
func (s *exactSum) addLong(n int64) {
	low := n % (1 << 32)
	s.add(float64(low))
	s.add(float64(n - low))
}

// long returns the sum as an integer if it is one in range.
func (s *exactSum) long() (int64, bool) {
	if s.sum < 1<<63 && s.sum >= -1<<63 {
		return addLong(int64(s.sum), int64(s.lost))
	}
	if s.sum == 1<<63 && s.lost < 0 {
		return math.MaxInt64 + (int64(s.lost) + 1), true
	}
	return 0, false
}

func (s *exactSum) decimal() decimal.Number { return decimalExactly(s.sum).Add(decimalExactly(s.lost)) }

// decimalExactly keeps the 34 digits of a double, where decimalFloat keeps 15.
func decimalExactly(f float64) decimal.Number {
	if f == 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		return decimal.FromFloat(f)
	}
	return exactly(f).Strip(0)
}
