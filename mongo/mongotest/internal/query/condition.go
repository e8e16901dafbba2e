package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
)

// condition is what a filter asks of the values on a path, or of one value (in $elemMatch and $pull).
type condition interface {
	onPath(p path, doc []byte) bool
	onValue(v Value) bool
}

// predicate is a test of a single value.
type predicate interface {
	test(v Value) bool
}

// leaf makes a condition of a predicate. With expand, an array is looked into before it is looked at.
type leaf struct {
	predicate
	expand bool
}

func (l *leaf) onPath(p path, doc []byte) bool {
	return p.walk(doc, l.testExpanded)
}

func (l *leaf) testExpanded(v Value, indexed bool) bool {
	if l.expand && !indexed && v.IsArray() {
		it := wire.Elements(v.Data)
		for it.Next() {
			if l.test(Of(it.Element)) {
				return true
			}
		}
	}
	return l.test(v)
}

func (l *leaf) onValue(v Value) bool { return l.test(v) }

// equality is a leaf that can be recognized, because upserts and _id look-ups need its value.
type equality struct {
	leaf
	value Value
}

func newEquality(v Value) *equality {
	return &equality{leaf: leaf{predicate: equalTo{v}, expand: true}, value: v}
}

type equalTo struct{ value Value }

func (p equalTo) test(v Value) bool {
	if p.value.Type == bson.TypeNull {
		return v.Missing() || v.Type == bson.TypeNull || v.Type == bson.TypeUndefined
	}
	return !v.Missing() && Equal(v, p.value)
}

// not inverts conditions that must all hold.
type not []condition

func (n not) onPath(p path, doc []byte) bool {
	for _, c := range n {
		if !c.onPath(p, doc) {
			return true
		}
	}
	return false
}

func (n not) onValue(v Value) bool {
	for _, c := range n {
		if !c.onValue(v) {
			return true
		}
	}
	return false
}

// every is conditions that must all hold.
type every []condition

func (a every) onPath(p path, doc []byte) bool {
	for _, c := range a {
		if !c.onPath(p, doc) {
			return false
		}
	}
	return true
}

func (a every) onValue(v Value) bool {
	for _, c := range a {
		if !c.onValue(v) {
			return false
		}
	}
	return true
}

// never is met by nothing: an empty $all.
type never struct{}

func (never) onPath(path, []byte) bool { return false }
func (never) onValue(Value) bool       { return false }

// parseConditions compiles what stands behind a field's name in a filter.
func parseConditions(v Value) ([]condition, error) {
	switch {
	case v.Type == bson.TypeRegex:
		c, err := parseRegexValue(v)
		if err != nil {
			return nil, err
		}
		return []condition{c}, nil
	case v.Type == bson.TypeUndefined:
		return nil, fail(BadValue, "cannot compare to undefined")
	case isExpression(v):
		return parseExpression(v.Data)
	}
	return []condition{newEquality(v)}, nil
}

// isExpression tells whether v is a document whose first key is an operator.
func isExpression(v Value) bool {
	if !v.IsDocument() {
		return false
	}
	it := wire.Elements(v.Data)
	if !it.Next() || len(it.Key) == 0 || it.Key[0] != '$' {
		return false
	}
	switch string(it.Key) {
	case "$ref", "$id", "$db": // a DBRef is a value
		return false
	}
	return true
}

func parseExpression(doc []byte) ([]condition, error) {
	var conditions []condition
	it := wire.Elements(doc)
	for it.Next() {
		c, err := parseOperator(string(it.Key), Of(it.Element), doc)
		if err != nil {
			return nil, err
		}
		if c != nil {
			conditions = append(conditions, c)
		}
	}
	return conditions, it.Err
}

// parseOperator compiles one operator of an expression; whole is the expression, for $regex and $options.
func parseOperator(key string, v Value, whole []byte) (condition, error) {
	if v.Type == bson.TypeUndefined {
		return nil, fail(BadValue, "cannot compare to undefined")
	}
	switch key {
	case "$eq":
		return newEquality(v), nil
	case "$ne":
		if v.Type == bson.TypeRegex {
			return nil, fail(BadValue, "Can't have regex as arg to $ne.")
		}
		return not{newEquality(v)}, nil
	case "$gt", "$gte", "$lt", "$lte":
		return parseOrder(key, v)
	case "$in":
		return parseIn(key, v)
	case "$nin":
		c, err := parseIn(key, v)
		return not{c}, err
	case "$not":
		return parseNot(v)
	case "$exists":
		return parseExists(v), nil
	case "$regex":
		return parseRegex(v, Lookup(whole, "$options"))
	case "$options":
		if Lookup(whole, "$regex").Missing() {
			return nil, fail(BadValue, "$options needs a $regex")
		}
		return nil, nil
	}
	return parseRareOperator(key, v)
}

func parseRareOperator(key string, v Value) (condition, error) {
	switch key {
	case "$type":
		return parseType(v)
	case "$size":
		return parseSize(v)
	case "$all":
		return parseAll(v)
	case "$elemMatch":
		return parseElemMatch(v)
	case "$mod":
		return parseMod(v)
	case "$geoWithin", "$geoIntersects", "$near", "$nearSphere", "$within", "$geoNear", "$bitsAllSet", "$bitsAllClear",
		"$bitsAnySet", "$bitsAnyClear", "$expr", "$_internalExprEq":
		return nil, unsupported("the query operator", key)
	}
	return nil, fail(BadValue, "unknown operator: %s", key)
}
