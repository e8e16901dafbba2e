package expr

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var stringOperators = []operator{
	{name: "$concat", max: -1, joins: joinsAdjacent, lazy: concat},
	{name: "$toLower", min: 1, max: 1, apply: mapped(asciiLower)},
	{name: "$toUpper", min: 1, max: 1, apply: mapped(asciiUpper)},
	{name: "$strcasecmp", min: 2, max: 2, apply: strcasecmp},
	{name: "$strLenBytes", min: 1, max: 1, apply: length("$strLenBytes", 34473, func(s []byte) int { return len(s) })},
	{name: "$strLenCP", min: 1, max: 1, apply: length("$strLenCP", 34471, codePoints)},
	{name: "$substr", parse: substrAlias},
	{name: "$substrBytes", min: 3, max: 3, apply: substrBytes},
	{name: "$substrCP", min: 3, max: 3, apply: substrCP},
	{name: "$indexOfBytes", min: 2, max: 4, lazy: indexOfBytes},
	{name: "$indexOfCP", min: 2, max: 4, lazy: indexOfCP},
	{name: "$split", min: 2, max: 2, long: split},
	trimmer("$trim", trimBoth),
	trimmer("$ltrim", trimLeft),
	trimmer("$rtrim", trimRight),
	replacer("$replaceOne", 1),
	replacer("$replaceAll", -1),
}

func concat(env *Env, args []Expression) (Value, error) {
	var parts [][]byte
	length := 0
	isNull := false
	err := eachArg(env, args, func(v Value) (bool, error) {
		if isNull = v.IsNullish(); isNull {
			return true, nil
		}
		if !v.IsString() {
			return false, mongoerr.Errorf(16702, "$concat only supports strings, not %s", typeName(v))
		}
		if length += len(v.Text()); length < maxText {
			parts = append(parts, v.Text())
		}
		return false, nil
	})
	if err != nil {
		return missing, err
	}
	if isNull {
		return null, nil
	}
	return query.Text(parts...), checkText(length)
}

// coerced returns what the older operators make of a value that is no string: the text of a number or a date.
func coerced(v Value) (string, error) {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined:
		return "", nil
	case bson.TypeString, bson.TypeSymbol, bson.TypeJavaScript:
		return string(v.Data[4 : len(v.Data)-1]), nil
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return numberText(v), nil
	case bson.TypeDateTime:
		s, err := dateText(v.AsInt64())
		if err != nil {
			return "", mongoerr.Errorf(18537, "failed while coercing date to string :: caused by :: %v", err)
		}
		return s, nil
	case bson.TypeTimestamp:
		return timestampText(v), nil
	}
	return "", mongoerr.Errorf(16007, "can't convert from BSON type %s to String", typeName(v))
}

func mapped(f func(byte) byte) func([]Value) (Value, error) {
	return func(args []Value) (Value, error) {
		s, err := coerced(args[0])
		if err != nil {
			return missing, err
		}
		v := query.Text(s)
		mapInPlace(v.Text(), f)
		return v, nil
	}
}

// mapBytes changes ASCII letters only, as the real server does.
func mapBytes(s string, f func(byte) byte) []byte {
	b := []byte(s)
	mapInPlace(b, f)
	return b
}

func mapInPlace(b []byte, f func(byte) byte) {
	for i, c := range b {
		b[i] = f(c)
	}
}

func asciiLower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

func asciiUpper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c &^ 0x20
	}
	return c
}

func strcasecmp(args []Value) (Value, error) {
	a, err := coerced(args[0])
	if err != nil {
		return missing, err
	}
	b, err := coerced(args[1])
	if err != nil {
		return missing, err
	}
	return query.Int32(int32(bytes.Compare(mapBytes(a, asciiUpper), mapBytes(b, asciiUpper)))), nil
}

func length(name string, code int32, count func([]byte) int) func([]Value) (Value, error) {
	return func(args []Value) (Value, error) {
		if !args[0].IsString() {
			return missing, mongoerr.Errorf(code, "%s requires a string argument, found: %s", name, typeName(args[0]))
		}
		return query.Int32(int32(count(args[0].Text()))), nil
	}
}

// codePoints counts the bytes that begin a code point, whether or not the text is valid.
func codePoints(s []byte) int {
	n := 0
	for i := range len(s) {
		if utf8.RuneStart(s[i]) {
			n++
		}
	}
	return n
}

func split(env *Env, args []Value) (Value, error) {
	s, by := args[0], args[1]
	switch {
	case s.IsNullish() || by.IsNullish():
		return null, nil
	case !s.IsString():
		return missing, mongoerr.Errorf(40085, "$split requires an expression that evaluates to a string as a first argument, found: %s", typeName(s))
	case by.Type == bson.TypeRegex:
		return splitRegex(env, string(s.Text()), by)
	case !by.IsString():
		return missing, mongoerr.Errorf(40086,
			"$split requires an expression that evaluates to a string or regular expression as a second argument, found: %s", typeName(by))
	case len(by.Text()) == 0:
		return missing, mongoerr.Errorf(40087, "$split requires a non-empty separator")
	}
	return texts(strings.Split(string(s.Text()), string(by.Text()))), nil
}

func texts(list []string) Value {
	values := make([]Value, len(list))
	for i, s := range list {
		values[i] = query.Text(s)
	}
	return array(values)
}
