package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// token is a part of a statement: a text in quotes, a parameter, a number, a name, or one sign.
var token = regexp.MustCompile("^(?:\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.|'')*'|`[^`]*`|\\$?[A-Za-z_][A-Za-z_0-9]*|-?[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|.)")

// literal executes a statement that needs no data: SELECT [RAW] value [= value] [AS name], ... with texts, numbers, true,
// false, null and parameters as values. It reports false for every other statement.
func literal(r *Request) (Answer, bool) {
	p := &literalParser{r: r, tokens: tokens(r.Statement)}
	if !p.accept("SELECT") {
		return Answer{}, false
	}
	raw := p.accept("RAW")
	row, types := &orderedObject{}, &orderedObject{}
	for n := 1; ; n++ {
		value, ok := p.value()
		if !ok {
			return Answer{}, false
		}
		name, ok := p.alias(n)
		if !ok {
			return Answer{}, false
		}
		row.add(name, value)
		types.add(name, json.RawMessage(`"`+typeOf(value)+`"`))
		if !p.accept(",") {
			break
		}
	}
	switch {
	case len(p.tokens) > 0 || raw && len(row.values) != 1:
		return Answer{}, false
	case raw:
		return Answer{Rows: []any{row.values[0]}, Fields: map[string]any{"signature": types.values[0]}}, true
	}
	return Answer{Rows: []any{row}, Fields: map[string]any{"signature": types}}, true
}

func tokens(statement string) (all []string) {
	for rest := strings.TrimSpace(statement); rest != ""; {
		one := token.FindString(rest)
		if one == "" {
			return nil
		}
		all = append(all, one)
		rest = strings.TrimSpace(rest[len(one):])
	}
	return all
}

type literalParser struct {
	r         *Request
	tokens    []string
	positions int // of the parameters without a name that were read
}

func (p *literalParser) accept(word string) bool {
	if len(p.tokens) == 0 || !strings.EqualFold(p.tokens[0], word) {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

// value reads a value, or a comparison of two.
func (p *literalParser) value() (json.RawMessage, bool) {
	left, ok := p.term()
	if !ok || !p.accept("=") {
		return left, ok
	}
	p.accept("=") // == is the same
	right, ok := p.term()
	switch {
	case !ok:
		return nil, false
	case string(left) == "null" || string(right) == "null":
		return json.RawMessage("null"), true
	case sameJSON(left, right):
		return json.RawMessage("true"), true
	}
	return json.RawMessage("false"), true
}

func (p *literalParser) term() (json.RawMessage, bool) {
	if len(p.tokens) == 0 {
		return nil, false
	}
	one := p.tokens[0]
	p.tokens = p.tokens[1:]
	switch lower := strings.ToLower(one); {
	case one == "?":
		p.positions++
		return p.r.argument(p.positions-1, "")
	case one[0] == '$' && len(one) > 1:
		return p.r.argument(0, one[1:])
	case lower == "true" || lower == "false" || lower == "null":
		return json.RawMessage(lower), true
	case one[0] == '\'' && len(one) > 1:
		inner := strings.ReplaceAll(one[1:len(one)-1], "''", "'")
		one = `"` + strings.ReplaceAll(inner, `"`, `\"`) + `"`
	}
	if value := json.RawMessage(one); (one[0] == '"' || one[0] == '-' || one[0] >= '0' && one[0] <= '9') && json.Valid(value) {
		return value, true
	}
	return nil, false
}

// alias reads the name of a value. Without one it is $ and its number.
func (p *literalParser) alias(n int) (string, bool) {
	expected := p.accept("AS")
	if len(p.tokens) > 0 {
		if name := strings.Trim(p.tokens[0], "`"); name != "" && isName(name) && !reserved[strings.ToUpper(p.tokens[0])] {
			p.tokens = p.tokens[1:]
			return name, true
		}
	}
	return fmt.Sprintf("$%d", n), !expected
}

// reserved is the words that may follow a value and are not its name.
var reserved = map[string]bool{
	"FROM": true, "WHERE": true, "LIMIT": true, "OFFSET": true, "ORDER": true, "UNION": true, "GROUP": true, "LET": true, "AND": true, "OR": true,
}

func isName(s string) bool {
	return s[0] == '_' || s[0] >= 'A' && s[0] <= 'Z' || s[0] >= 'a' && s[0] <= 'z'
}

// sameJSON reports whether two values are equal.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	left, errLeft := marshal(x)
	right, errRight := marshal(y)
	return errLeft == nil && errRight == nil && bytes.Equal(left, right)
}

// typeOf returns the name of a value's type, as a signature has it.
func typeOf(value json.RawMessage) string {
	switch value[0] {
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	case '{':
		return "object"
	case '[':
		return "array"
	}
	return "number"
}

// orderedObject is a JSON object whose fields keep their order.
type orderedObject struct {
	names  []string
	values []json.RawMessage
}

func (o *orderedObject) add(name string, value json.RawMessage) {
	o.names, o.values = append(o.names, name), append(o.values, value)
}

// MarshalJSON implements json.Marshaler.
func (o *orderedObject) MarshalJSON() ([]byte, error) {
	b := []byte("{")
	for i, name := range o.names {
		key, err := marshal(name)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, key...), ':'), o.values[i]...)
	}
	return append(b, '}'), nil
}
