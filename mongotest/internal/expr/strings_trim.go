package expr

import (
	"math"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/textfind"
)

// spaces are what $trim and its kin take away if no characters are given.
const spaces = "\x00 \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"

func trimmer(name string, trim func(s string, points trimPoints) string) operator {
	s := signature{
		notObject: refusal{50696, "%[1]s only supports an object as an argument, found %[2]s"},
		unknown:   refusal{50694, "%[1]s found an unknown argument: %[2]s"},
		params:    []parameter{{name: "input", absent: refusal{50695, "%[1]s requires an 'input' field"}}, {name: "chars"}},
	}
	return operator{name: name, parse: s.parse, lazy: func(env *Env, args []Expression) (Value, error) {
		var input, chars string
		isNull, err := inTurn(env, args, taker{0, into(&input, trimmed(name, 50699, "its input"))}, taker{1, into(&chars, trimmed(name, 50700, "'chars'"))})
		if isNull || err != nil {
			return null, err
		}
		points, err := trimSet(chars)
		return query.Text(trim(input, points)), err
	}}
}

// trimmed reads an argument of $trim and its kin.
func trimmed(name string, code int32, what string) func(Value) (string, error) {
	return func(v Value) (string, error) {
		v = otherwise(v, query.Text(spaces))
		if !v.IsString() {
			return "", mongoerr.Errorf(code, "%s requires %s to be a string, got %s (of type %s) instead.", name, what, spelled(v), typeName(v))
		}
		return string(v.Text()), nil
	}
}

// trimPoints are the characters to cut off, with the order in which they are looked for.
type trimPoints map[string]int

// trimSet returns the characters to cut off.
func trimSet(chars string) (trimPoints, error) {
	points, ok := textfind.SplitPoints(chars)
	if !ok {
		return nil, mongoerr.Errorf(5156305, trimFault+"Got continuation byte when expecting the start of a new code point.")
	}
	if len(points) > 0 {
		last := points[len(points)-1]
		if n, _ := textfind.PointLength(last[0]); n > len(last) {
			return nil, mongoerr.Errorf(5156304, trimFault+"Missing expected continuation byte at end of string.")
		}
	}
	set := make(trimPoints, len(points))
	for i, point := range points {
		if _, again := set[point]; !again {
			set[point] = i
		}
	}
	return set, nil
}

const trimFault = `Failed to parse "chars" argument to $trim/$ltrim/$rtrim: Detected invalid UTF-8. `

func trimLeft(s string, points trimPoints) string {
	for s != "" {
		n, _ := textfind.PointLength(s[0])
		n = min(max(n, 1), len(s))
		if _, ok := points[s[:n]]; !ok {
			break
		}
		s = s[n:]
	}
	return s
}

func trimRight(s string, points trimPoints) string {
	for {
		n := points.last(s)
		if n == 0 {
			return s
		}
		s = s[:len(s)-n]
	}
}

// last returns the length of the character at the end of a text that is to be cut off, 0 for none.
func (p trimPoints) last(s string) int {
	length, first := 0, math.MaxInt // a character may stand twice among those to cut off
	for n := 1; n <= min(4, len(s)); n++ {
		if i, ok := p[s[len(s)-n:]]; ok && i < first {
			length, first = n, i
		}
	}
	return length
}

func trimBoth(s string, points trimPoints) string { return trimLeft(trimRight(s, points), points) }
