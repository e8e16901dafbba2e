package expr

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/textfind"
)

// substrAlias is $substr, the old name of $substrBytes.
func substrAlias(p *parser, _ *operator, v Value) (Expression, error) {
	return positional(p, operators["$substrBytes"], v)
}

func substrBytes(args []Value) (Value, error) {
	s, err := coerced(args[0])
	if err != nil {
		return missing, err
	}
	if !args[1].IsNumber() {
		return missing, mongoerr.Errorf(16034, "$substrBytes:  starting index must be a numeric type (is BSON type %s)", typeName(args[1]))
	}
	if !args[2].IsNumber() {
		return missing, mongoerr.Errorf(16035, "$substrBytes:  length must be a numeric type (is BSON type %s)", typeName(args[2]))
	}
	start, err := coercedLong(args[1])
	if err != nil {
		return missing, err
	}
	count, err := coercedLong(args[2])
	if err != nil {
		return missing, err
	}
	if start < 0 {
		return missing, mongoerr.Errorf(50752, "$substrBytes:  starting index must be non-negative (got: %d)", start)
	}
	from := min(start, int64(len(s)))
	to := int64(len(s))
	if count >= 0 {
		to = min(to-from, count) + from
	}
	if from < int64(len(s)) && !utf8.RuneStart(s[from]) {
		return missing, mongoerr.Errorf(28656, "$substrBytes:  Invalid range, starting index is a UTF-8 continuation byte.")
	}
	if to < int64(len(s)) && !utf8.RuneStart(s[to]) {
		return missing, mongoerr.Errorf(28657, "$substrBytes:  Invalid range, ending index is in the middle of a UTF-8 character.")
	}
	return query.Text(s[from:to]), nil
}

func substrCP(args []Value) (Value, error) {
	s, err := coerced(args[0])
	if err != nil {
		return missing, err
	}
	start, err := substrBound(args[1], 34450, "starting index")
	if err != nil {
		return missing, err
	}
	count, err := substrBound(args[2], 34452, "length")
	if err != nil {
		return missing, err
	}
	if count < 0 {
		return missing, mongoerr.Errorf(34454, "$substrCP: length must be a nonnegative integer.")
	}
	if start < 0 {
		return missing, mongoerr.Errorf(34455, "$substrCP: the starting index must be nonnegative integer.")
	}
	rest, ok := textfind.SkipPoints(s, start)
	if !ok {
		return missing, mongoerr.Errorf(34456, "$substrCP: invalid UTF-8 string")
	}
	behind, ok := textfind.SkipPoints(rest, count)
	if !ok {
		return missing, mongoerr.Errorf(34458, "$substrCP: invalid UTF-8 string")
	}
	return query.Text(strings.TrimSuffix(rest, behind)), nil
}

func substrBound(v Value, code int32, what string) (int, error) {
	if !v.IsNumber() {
		return 0, mongoerr.Errorf(code, "$substrCP: %s must be a numeric type (is BSON type %s)", what, typeName(v))
	}
	n, ok := asIndex(v)
	if !ok {
		return 0, mongoerr.Errorf(code+1, "$substrCP: %s cannot be represented as a 32-bit integral value: %s", what, spelled(v))
	}
	return n, nil
}

var searchCodes = boundCodes{notInteger: 40096, negative: 40097}

func indexOfBytes(env *Env, args []Expression) (Value, error) {
	s, find, isNull, err := searchStrings(env, "$indexOfBytes", 40091, args)
	if isNull || err != nil {
		return null, err
	}
	from, to, err := bounds(env, "$indexOfBytes", searchCodes, args[2:], len(s))
	if err != nil {
		return missing, err
	}
	if from > to {
		return query.Int32(-1), nil
	}
	at := bytes.Index(s[from:to], find)
	if at >= 0 {
		at += from
	}
	return query.Int32(int32(at)), nil
}

// searchStrings evaluates the string to search, which may be null, and what to find in it.
func searchStrings(env *Env, name string, code int32, args []Expression) (s, find []byte, isNull bool, err error) {
	var found [2][]byte
	for i, which := range []string{"first", "second"} {
		v, err := args[i].Eval(env)
		if err != nil {
			return nil, nil, false, err
		}
		if i == 0 && v.IsNullish() {
			return nil, nil, true, nil
		}
		if !v.IsString() {
			return nil, nil, false, mongoerr.Errorf(code+int32(i), "%s requires a string as the %s argument, found: %s", name, which, typeName(v))
		}
		found[i] = v.Text()
	}
	return found[0], found[1], false, nil
}

func indexOfCP(env *Env, args []Expression) (Value, error) {
	s, find, isNull, err := searchStrings(env, "$indexOfCP", 40093, args)
	if isNull || err != nil {
		return null, err
	}
	points, ok, err := textfind.CountPoints(env.Work, s)
	if err != nil {
		return missing, err
	}
	from, to, err := bounds(env, "$indexOfCP", searchCodes, args[2:], points)
	if err != nil {
		return missing, err
	}
	if !ok {
		return missing, mongoerr.Errorf(40095, "$indexOfCP found bad UTF-8 in the input")
	}
	if from == 0 && points == 0 && len(find) == 0 {
		return query.Int32(0), nil
	}
	from = min(from, points)
	rest, _ := textfind.SkipPoints(s, from)
	i, err := pointIndex(env.Work, rest, find, max(0, to-from))
	if i >= 0 {
		i += from
	}
	return query.Int32(int32(i)), err
}

// pointIndex returns which of the first characters of a text begins what is looked for, -1 for none.
func pointIndex(w *query.Work, s, find []byte, count int) (int, error) {
	at := 0 // where the character i is
	for i := 0; i < count && at < len(s); {
		next, err := w.Index(s[at:], find)
		if next < 0 || err != nil {
			return -1, err
		}
		from := at
		for next += at; i < count && at < next; i++ {
			n, _ := textfind.PointLength(s[at])
			at = min(at+n, len(s))
		}
		if err := w.Bytes(at - from); err != nil {
			return -1, err
		}
		if at == next && i < count && at < len(s) {
			return i, nil
		}
	}
	return -1, nil
}
