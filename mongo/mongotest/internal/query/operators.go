package query

import (
	"bytes"
	"math"
	"regexp"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
)

// order is $gt, $gte, $lt or $lte: a comparison within the operand's own kind of type.
type order struct {
	operand Value
	less    bool // $lt, $lte
	equal   bool // $gte, $lte
}

func parseOrder(key string, v Value) (condition, error) {
	if v.Type == bson.TypeRegex {
		return nil, fail(BadValue, "Can't have RegEx as arg to predicate over field")
	}
	o := order{operand: v, less: key[1] == 'l', equal: len(key) == 4}
	return &leaf{predicate: o, expand: true}, nil
}

func (o order) test(v Value) bool {
	limit := o.operand.Type == bson.TypeMinKey || o.operand.Type == bson.TypeMaxKey
	if v.Missing() {
		if !limit {
			return o.equal && o.operand.Type == bson.TypeNull
		}
		v.Type = bson.TypeNull
	}
	if !limit && rank(v.Type) != rank(o.operand.Type) {
		return false
	}
	if !limit && isNaN(v) != isNaN(o.operand) {
		return false
	}
	c := Compare(v, o.operand)
	return (o.equal && c == 0) || (o.less && c < 0) || (!o.less && c > 0)
}

func isNaN(v Value) bool { return v.IsNumber() && v.special() == -2 }

// in is $in: any of some values or regular expressions.
type in []predicate

func parseIn(key string, v Value) (condition, error) {
	if !v.IsArray() {
		return nil, fail(BadValue, "%s needs an array", key)
	}
	var list in
	for _, e := range v.elements() {
		switch {
		case e.Type == bson.TypeRegex:
			c, err := parseRegexValue(e)
			if err != nil {
				return nil, err
			}
			list = append(list, c.predicate)
		case isExpression(e):
			return nil, fail(BadValue, "cannot nest $ under %s", key)
		default:
			list = append(list, equalTo{e})
		}
	}
	return &leaf{predicate: list, expand: true}, nil
}

func (l in) test(v Value) bool {
	for _, p := range l {
		if p.test(v) {
			return true
		}
	}
	return false
}

func parseNot(v Value) (condition, error) {
	if v.Type == bson.TypeRegex {
		c, err := parseRegexValue(v)
		return not{c}, err
	}
	if !v.IsDocument() {
		return nil, fail(BadValue, "$not needs a regex or a document")
	}
	list := v.elements()
	if len(list) == 0 {
		return nil, fail(BadValue, "$not cannot be empty")
	}
	conditions, err := parseExpression(v.Data)
	return not(conditions), err
}

type exists struct{}

func (exists) test(v Value) bool { return !v.Missing() }

func parseExists(v Value) condition {
	c := &leaf{predicate: exists{}}
	if v.True() || (v.Type != bson.TypeBoolean && !v.IsNumber() && v.Type != bson.TypeNull) {
		return c
	}
	return not{c}
}

// regex is a regular expression; PCRE's syntax as far as Go has it.
type regex struct {
	source Value
	re     *regexp.Regexp
}

func (r regex) test(v Value) bool {
	switch v.Type {
	case bson.TypeString, bson.TypeSymbol:
		return r.re.Match(stringBytes(v.Data))
	case bson.TypeRegex:
		return bytes.Equal(v.Data, r.source.Data)
	}
	return false
}

func parseRegexValue(v Value) (*leaf, error) {
	pattern, rest, _ := bytes.Cut(v.Data, []byte{0})
	options, _, _ := bytes.Cut(rest, []byte{0})
	return compileRegex(v, string(pattern), string(options))
}

func parseRegex(v, options Value) (condition, error) {
	flags := ""
	if !options.Missing() {
		if options.Type != bson.TypeString {
			return nil, fail(BadValue, "$options has to be a string")
		}
		flags = string(options.Text())
	}
	switch v.Type {
	case bson.TypeString:
		return compileRegex(v, string(v.Text()), flags)
	case bson.TypeRegex:
		pattern, rest, _ := bytes.Cut(v.Data, []byte{0})
		own, _, _ := bytes.Cut(rest, []byte{0})
		if len(own) > 0 && flags != "" {
			return nil, fail(51074, "options set in both $regex and $options")
		}
		return compileRegex(v, string(pattern), string(own)+flags)
	}
	return nil, fail(BadValue, "$regex has to be a string")
}

func compileRegex(source Value, pattern, options string) (*leaf, error) {
	flags := ""
	for _, o := range options {
		switch o {
		case 'i', 'm', 's':
			flags += string(o)
		case 'u':
		case 'x':
			return nil, unsupported("the regular expression option", "x")
		default:
			return nil, fail(51108, "invalid flag in regex options: %c", o)
		}
	}
	if flags != "" {
		pattern = "(?" + flags + ")" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fail(InvalidRegex, "Regular expression is invalid: %v", err)
	}
	return &leaf{predicate: regex{source, re}, expand: true}, nil
}

type size int64

func (s size) test(v Value) bool {
	if !v.IsArray() {
		return false
	}
	n := size(0)
	it := wire.Elements(v.Data)
	for it.Next() {
		n++
	}
	return n == s
}

func parseSize(v Value) (condition, error) {
	n, ok := v.Integer()
	if !v.IsNumber() || !ok {
		return nil, fail(FailedToParse, "Failed to parse $size. Expected an integer: $size: %s", v)
	}
	if n < 0 {
		return nil, fail(FailedToParse, "Failed to parse $size. Expected a non-negative number in: $size: %s", v)
	}
	return &leaf{predicate: size(n)}, nil
}

func parseAll(v Value) (condition, error) {
	if !v.IsArray() {
		return nil, fail(BadValue, "$all needs an array")
	}
	var all every
	for _, e := range v.elements() {
		c, err := parseAllElement(e)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return never{}, nil
	}
	return all, nil
}

func parseAllElement(e Value) (condition, error) {
	if e.Type == bson.TypeRegex {
		return parseRegexValue(e)
	}
	if !isExpression(e) {
		return newEquality(e), nil
	}
	it := wire.Elements(e.Data)
	if it.Next() && string(it.Key) == "$elemMatch" {
		return parseElemMatch(Of(it.Element))
	}
	return nil, fail(BadValue, "no $ expressions in $all")
}

// elemMatch is met by an array with an element that meets all conditions at once.
type elemMatch struct {
	nodes      []node      // of the document form
	conditions []condition // of the value form
}

func parseElemMatch(v Value) (condition, error) {
	if !v.IsDocument() {
		return nil, fail(BadValue, "$elemMatch needs an Object")
	}
	var m elemMatch
	var err error
	if isExpression(v) && !isLogical(v) {
		m.conditions, err = parseExpression(v.Data)
	} else {
		m.nodes, err = parseFilter(v.Data, []node{})
	}
	return &leaf{predicate: m}, err
}

// isLogical tells whether a document begins with an operator of whole filters.
func isLogical(v Value) bool {
	it := wire.Elements(v.Data)
	it.Next()
	switch string(it.Key) {
	case "$and", "$or", "$nor", "$where", "$expr":
		return true
	}
	return false
}

func (m elemMatch) test(v Value) bool {
	if !v.IsArray() {
		return false
	}
	it := wire.Elements(v.Data)
	for it.Next() {
		if m.element(Of(it.Element)) {
			return true
		}
	}
	return false
}

func (m elemMatch) element(v Value) bool {
	if m.nodes != nil {
		return (v.IsDocument() || v.IsArray()) && matchAll(m.nodes, v.Data)
	}
	return every(m.conditions).onValue(v)
}

type mod struct{ divisor, remainder int64 }

func (m mod) test(v Value) bool {
	if !v.IsNumber() || v.special() != 0 {
		return false
	}
	n, ok := v.Integer()
	if !ok {
		r, _ := v.rational()
		f, _ := r.Float64()
		if math.Abs(f) >= 1<<63 {
			return false
		}
		n = int64(f)
	}
	return m.divisor != -1 && n%m.divisor == m.remainder || m.divisor == -1 && m.remainder == 0
}

func parseMod(v Value) (condition, error) {
	if !v.IsArray() {
		return nil, fail(BadValue, "malformed mod, needs to be an array")
	}
	list := v.elements()
	switch {
	case len(list) < 2:
		return nil, fail(BadValue, "malformed mod, not enough elements")
	case len(list) > 2:
		return nil, fail(BadValue, "malformed mod, too many elements")
	}
	divisor, ok := truncated(list[0])
	if !ok {
		return nil, fail(BadValue, "malformed mod, divisor not a number")
	}
	remainder, ok := truncated(list[1])
	if !ok {
		return nil, fail(BadValue, "malformed mod, remainder not a number")
	}
	if divisor == 0 {
		return nil, fail(BadValue, "divisor cannot be 0")
	}
	return &leaf{predicate: mod{divisor, remainder}, expand: true}, nil
}

// truncated returns a finite number without its fraction.
func truncated(v Value) (int64, bool) {
	if n, ok := v.Integer(); ok {
		return n, v.IsNumber()
	}
	if !v.IsNumber() || v.special() != 0 {
		return 0, false
	}
	r, _ := v.rational()
	f, _ := r.Float64()
	return int64(f), math.Abs(f) < 1<<63
}
