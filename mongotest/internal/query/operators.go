package query

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// order is $gt, $gte, $lt or $lte: a comparison within the operand's own kind of type.
type order struct {
	operand Value
	less    bool // $lt, $lte
	equal   bool // $gte, $lte
}

// comparison compiles $eq, $ne, $gt, $gte, $lt and $lte.
func (p *filterParser) comparison(key string, v Value) (condition, error) {
	switch {
	case v.Type == bson.TypeUndefined:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "cannot compare to undefined")
	case key == "$eq":
		return p.equality(v), nil
	case key == "$ne" && v.Type == bson.TypeRegex:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "Can't have regex as arg to $ne.")
	case key == "$ne":
		return not{p.equality(v)}, nil
	case v.Type == bson.TypeRegex:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "Can't have RegEx as arg to non-equality predicate over field '%s'.", p.at)
	}
	o := order{operand: v, less: key[1] == 'l', equal: len(key) == 4}
	if p.collation != nil && HasText(v) {
		o.operand = Keyed(p.collation, v)
		return &leaf{predicate: keyed{o, p.collation}, expand: true}, nil
	}
	return &leaf{predicate: o, expand: true}, nil
}

// kind is the comparison's place among the real server's kinds of conditions.
func (o order) kind() int {
	switch {
	case o.less && o.equal:
		return 6
	case o.less:
		return 7
	case o.equal:
		return 9
	}
	return 8
}

func (o order) test(v Value, _ *Matching) bool {
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
type in struct {
	list   []predicate
	values *ValueSet   // of the list, nil for a few
	null   bool        // is in the values
	others []predicate // of the list
	keys   *ValueSet   // of the strings in the list, nil for none
	by     Collation   // of the keys
}

func (p *filterParser) in(key string, v Value) (condition, error) {
	if !v.IsArray() {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "%s needs an array", key)
	}
	elements := v.elements()
	if len(elements) == 1 && elements[0].Type != bson.TypeRegex && elements[0].Type != bson.TypeUndefined && !isExpression(elements[0]) {
		return p.equality(elements[0]), nil
	}
	var list in
	for _, e := range elements {
		if err := CheckListed(e); err != nil {
			return nil, err
		}
		if e.Type != bson.TypeRegex {
			list.list = append(list.list, p.equality(e).predicate)
			continue
		}
		c, err := parseRegexValue(e)
		if err != nil {
			return nil, err
		}
		list.list = append(list.list, c.predicate)
	}
	list.collect()
	return &leaf{predicate: list, expand: true}, nil
}

// CheckListed refuses a value that a list of $in cannot have. $lookup and $graphLookup look for their values by such a list.
func CheckListed(v Value) error {
	switch {
	case v.Type == bson.TypeUndefined:
		return mongoerr.Errorf(mongoerr.BadValue, "Cannot insert undefined into InListData")
	case isExpression(v):
		return mongoerr.Errorf(mongoerr.BadValue, "cannot nest $ under $in")
	}
	return nil
}

func (l in) test(v Value, with *Matching) bool {
	list := l.list
	if l.keys != nil && l.keys.Has(Keyed(l.by, v)) {
		return true
	}
	if l.values != nil {
		if v.Missing() && l.null || !v.Missing() && l.values.Has(v) {
			return true
		}
		list = l.others
	}
	for _, p := range list {
		if p.test(v, with) {
			return true
		}
	}
	return false
}

// collect makes a set of the values, if there are many.
func (l *in) collect() {
	if len(l.list) <= many {
		return
	}
	l.values = &ValueSet{}
	for _, p := range l.list {
		if k, ok := p.(keyed); ok {
			l.collectKey(k)
			continue
		}
		e, ok := p.(equalTo)
		if !ok {
			l.others = append(l.others, p)
			continue
		}
		l.null = l.null || e.value.Type == bson.TypeNull
		l.values.Add(e.value)
	}
}

func (l *in) collectKey(k keyed) {
	if l.keys == nil {
		l.keys, l.by = &ValueSet{}, k.by
	}
	if e, ok := k.predicate.(equalTo); ok {
		l.keys.Add(e.value)
	}
}

func (p *filterParser) not(v Value) (condition, error) {
	if v.Type == bson.TypeRegex {
		c, err := parseRegexValue(v)
		return not{c}, err
	}
	if !v.IsDocument() {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "$not argument must be a regex or an object")
	}
	if len(v.Data) == len(EmptyDocument) {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "$not argument must be a non-empty object")
	}
	conditions, err := p.operators(v.Data)
	return not(conditions), err
}

type exists struct{}

func (exists) test(v Value, _ *Matching) bool { return !v.Missing() }

func parseExists(v Value) condition {
	c := &leaf{predicate: exists{}, expand: true}
	if Truth(v) {
		return c
	}
	return not{c}
}

type size int64

func (s size) test(v Value, _ *Matching) bool {
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
	n, refused := IntegerOf("$size", v)
	switch {
	case refused == "" && n != int64(int32(n)):
		refused = "Cannot represent $size: " + v.String() + " in an int"
	case refused == "" && n < 0:
		refused = "Expected a non-negative number in: $size: " + v.String()
	}
	if refused != "" {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "Failed to parse $size. %s", refused)
	}
	return &leaf{predicate: size(n)}, nil
}

type mod struct{ divisor, remainder int64 }

func (m mod) test(v Value, _ *Matching) bool {
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
		return nil, mongoerr.Errorf(mongoerr.BadValue, "malformed mod, needs to be an array")
	}
	list := v.elements()
	switch {
	case len(list) < 2:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "malformed mod, not enough elements")
	case len(list) > 2:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "malformed mod, too many elements")
	}
	divisor, err := modNumber("divisor", list[0])
	if err != nil {
		return nil, err
	}
	remainder, err := modNumber("remainder", list[1])
	if err != nil {
		return nil, err
	}
	if divisor == 0 {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "divisor cannot be 0")
	}
	return &leaf{predicate: mod{divisor, remainder}, expand: true}, nil
}

func modNumber(what string, v Value) (int64, error) {
	n, ok := truncated(v)
	switch {
	case !v.IsNumber():
		return 0, mongoerr.Errorf(mongoerr.BadValue, "malformed mod, %s not a number", what)
	case v.special() != 0:
		return 0, mongoerr.Errorf(mongoerr.BadValue, "malformed mod, %s value is invalid :: caused by :: Unable to coerce NaN/Inf to integral type",
			what)
	case !ok:
		return 0, mongoerr.Errorf(mongoerr.BadValue, "malformed mod, %s value is invalid :: caused by :: Out of bounds coercing to integral value",
			what)
	}
	return n, nil
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
