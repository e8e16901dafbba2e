package expr

import (
	"math"
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/decimal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// maxRange is how many bytes the real server allows for $range, at 16 a number.
const maxRange = 100 << 20

func rangeOf(env *Env, expressions []Expression) (Value, error) {
	args, err := evalAll(env, expressions[:2])
	if err != nil {
		return missing, err
	}
	start, err := rangeBound(args[0], 34443, "a numeric starting value, found value of type: ", "a starting value")
	if err != nil {
		return missing, err
	}
	end, err := rangeBound(args[1], 34445, "a numeric ending value, found value of type: ", "an ending value")
	if err != nil {
		return missing, err
	}
	step := 1
	if len(expressions) == 3 {
		v, err := expressions[2].Eval(env)
		if err != nil {
			return missing, err
		}
		if step, err = rangeBound(v, 34447, "a numeric step value, found value of type:", "a step value"); err != nil {
			return missing, err
		}
		if step == 0 {
			return missing, mongoerr.Errorf(34449, "$range requires a non-zero step value")
		}
	}
	return steps(start, end, step)
}

func rangeBound(v Value, code int32, wrongType, what string) (int, error) {
	if !v.IsNumber() {
		return 0, mongoerr.Errorf(code, "$range requires %s%s", wrongType, typeName(v))
	}
	n, ok := asIndex(v)
	if !ok {
		return 0, mongoerr.Errorf(code+1, "$range requires %s that can be represented as a 32-bit integer, found value: %s", what, spelled(v))
	}
	return n, nil
}

func steps(start, end, step int) (Value, error) {
	count := 0
	if (end-start)*step > 0 {
		count = (end-start-decimal.Sign(step < 0))/step + 1
	}
	if size := 40 + 16*((end-start)/step); size > maxRange {
		return missing, mongoerr.Errorf(mongoerr.ExceededMemoryLimit,
			"$range would use too much memory (%d bytes) and cannot spill to disk. Memory limit: %d bytes", size, maxRange)
	}
	values := make([]Value, count)
	for i := range values {
		values[i] = query.Int32(int32(start + i*step))
	}
	return array(values), nil
}

// slice is [array, n] or [array, position, n].
func slice(env *Env, expressions []Expression) (Value, error) {
	args, err := evalAll(env, expressions[:2])
	if err != nil {
		return missing, err
	}
	a := args[0]
	if a.IsNullish() || args[1].IsNullish() {
		return null, nil
	}
	if !a.IsArray() {
		return missing, mongoerr.Errorf(28724, "First argument to $slice must be an array, but is of type: %s", typeName(a))
	}
	n, err := sliceArgument(args[1], 28725, "Second argument to $slice must be a numeric value, but is of type: ", "Second")
	if err != nil {
		return missing, err
	}
	elements := env.elements(a)
	if len(expressions) == 2 {
		if n < 0 {
			return array(elements[max(0, len(elements)+n):]), nil
		}
		return array(elements[:min(n, len(elements))]), nil
	}
	return sliceAt(env, elements, n, expressions[2])
}

func sliceAt(env *Env, elements []Value, n int, e Expression) (Value, error) {
	v, err := e.Eval(env)
	if err != nil {
		return missing, err
	}
	if v.IsNullish() {
		return null, nil
	}
	count, err := sliceArgument(v, 28727, "Third argument to $slice must be numeric, but is of type: ", "Third")
	if err != nil {
		return missing, err
	}
	if count <= 0 {
		return missing, mongoerr.Errorf(28729, "Third argument to $slice must be positive: %d", count)
	}
	if n < 0 {
		n = max(0, len(elements)+n)
	}
	n = min(n, len(elements))
	return array(elements[n:min(n+count, len(elements))]), nil
}

func sliceArgument(v Value, code int32, wrongType, which string) (int, error) {
	if !v.IsNumber() {
		return 0, mongoerr.Errorf(code, "%s%s", wrongType, typeName(v))
	}
	n, ok := asIndex(v)
	if !ok {
		return 0, mongoerr.Errorf(code+1, "%s argument to $slice can't be represented as a 32-bit integer: %s", which, sixDigits(v.AsFloat64()))
	}
	return n, nil
}

// sixDigits writes a double as the real server's streams do: six significant digits.
func sixDigits(f float64) string {
	switch {
	case math.IsNaN(f) && math.Signbit(f):
		return "-nan"
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', 6, 64), "+"))
	}
	return shorten(strconv.FormatFloat(f, 'g', 6, 64))
}

// shorten drops zeros at the end of a fraction, which C's %g does not write.
func shorten(s string) string {
	mantissa, exponent, scientific := strings.Cut(s, "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimSuffix(strings.TrimRight(mantissa, "0"), ".")
	}
	if scientific {
		return mantissa + "e" + exponent
	}
	return mantissa
}
