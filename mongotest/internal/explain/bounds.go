package explain

import (
	"math"
	"regexp/syntax"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// tightness is how exactly the bounds of an index say which documents meet a condition.
type tightness uint8

const (
	exact      tightness = iota
	keyNeeded            // the condition must be asked of each key
	docNeeded            // the condition must be asked of each document
	impossible           // no index helps
)

// bounds returns the intervals of an index's field in which the documents are that meet a condition.
func (c *condition) bounds(field *indexField) ([]interval, tightness) {
	switch c.op {
	case "$eq":
		return c.equal(field)
	case "$lt", "$lte", "$gt", "$gte":
		return c.compared(field)
	case "$in":
		return c.among(field)
	case "$regex":
		return c.matching(field)
	case "$mod":
		return []interval{numbers}, keyNeeded
	case "$type":
		return c.ofType()
	case "$exists":
		if field.sparse && len(field.index.Paths) == 1 {
			return anything, exact
		}
		return anything, docNeeded
	case "$not":
		return c.opposite(field)
	case "$elemMatch":
		return c.element(field)
	}
	return nil, impossible
}

var numbers = interval{from: query.Double(math.NaN()), to: query.Double(math.Inf(1))}

// comparable reports whether the index compares a value as the search does.
func (f *indexField) comparable(v query.Value) bool {
	return f.collated || !v.IsString() && !v.IsDocument() && !v.IsArray()
}

func (c *condition) equal(field *indexField) ([]interval, tightness) {
	switch v := c.value; {
	case !field.comparable(v):
		return nil, impossible
	case v.Type == bson.TypeNull && field.sparse:
		return nil, impossible
	case v.Type == bson.TypeNull:
		return []interval{point(null)}, docNeeded
	case v.IsArray():
		first := query.Value{Type: bson.TypeUndefined}
		if list := query.Elements(v.Data); len(list) > 0 {
			first = list[0]
		}
		return union([]interval{point(first), point(v)}), docNeeded
	default:
		return []interval{point(v)}, exact
	}
}

func (c *condition) compared(field *indexField) ([]interval, tightness) {
	v, up, open := c.value, c.op[1] == 'g', len(c.op) == 3
	within, ok := typeRange(v)
	switch {
	case !field.comparable(v):
		return nil, impossible
	case v.Type == bson.TypeNull && open:
		return []interval{}, exact
	case v.Type == bson.TypeNull && field.sparse:
		return nil, impossible
	case v.Type == bson.TypeNull:
		return []interval{point(null)}, docNeeded
	case v.IsArray() && up:
		from := minKey
		if list := query.Elements(v.Data); len(list) > 0 {
			from = list[0]
		}
		return []interval{{from: from, to: maxKey}}, docNeeded
	case v.IsArray():
		return []interval{{from: minKey, to: v}}, docNeeded
	case !ok:
		return nil, impossible
	case v.IsNumber() && math.IsNaN(v.AsFloat64()):
		if open {
			return []interval{}, exact
		}
		return []interval{point(v)}, exact
	case up:
		within.from, within.fromOpen = v, open
	default:
		within.to, within.toOpen = v, open
	}
	return union([]interval{within}), exact
}

func (c *condition) among(field *indexField) ([]interval, tightness) {
	var list []interval
	how := exact
	for _, v := range query.Elements(c.value.Data) {
		one := &condition{op: "$eq", path: c.path, value: v}
		if v.Type == bson.TypeRegex {
			one = regexOf(c.path, v)
		}
		part, t := one.bounds(field)
		list, how = append(list, part...), max(how, t)
	}
	return union(list), how
}

func (c *condition) matching(field *indexField) ([]interval, tightness) {
	if !field.collated {
		return nil, impossible
	}
	pattern, options := string(c.value.Text()), string(c.options.Text())
	data := append([]byte(pattern), 0)
	self := point(query.Value{Type: bson.TypeRegex, Data: append(append(data, options...), 0)})
	prefix, whole := literalPrefix(pattern)
	if prefix == "" || options != "" {
		return []interval{{from: emptyText, to: emptyDoc, toOpen: true}, self}, keyNeeded
	}
	next := []byte(prefix)
	next[len(next)-1]++
	how := keyNeeded
	if whole {
		how = exact
	}
	return []interval{{from: textOf(prefix), to: textOf(string(next)), toOpen: true}, self}, how
}

// literalPrefix returns the text with which all that a pattern matches begins, and whether the pattern asks for nothing else.
func literalPrefix(pattern string) (prefix string, whole bool) {
	rest, found := strings.CutPrefix(pattern, "^")
	if !found || strings.ContainsAny(pattern, "|\\") {
		return "", false
	}
	parsed, err := syntax.Parse(rest, syntax.Perl)
	if err != nil {
		return "", false
	}
	if end := strings.IndexAny(rest, ".+*?()[]{}^$"); end >= 0 {
		prefix = rest[:end]
		if strings.ContainsRune("*?{", rune(rest[end])) && prefix != "" {
			prefix = prefix[:len(prefix)-1]
		}
		return prefix, rest == prefix+".*" && parsed.Op == syntax.OpConcat
	}
	return rest, true
}

// ofType bounds a $type by the values of the types, where these lie beside each other in an index.
func (c *condition) ofType() ([]interval, tightness) {
	values := []query.Value{c.value}
	if c.value.IsArray() {
		values = query.Elements(c.value.Data)
	}
	var list []interval
	for _, v := range values {
		sample, ok := sampleOf(v)
		if !ok {
			return anything, docNeeded
		}
		within, ok := typeRange(sample)
		switch {
		case sample.IsNumber():
			within = numbers
		case !ok:
			return anything, docNeeded
		}
		list = append(list, within)
	}
	if len(values) == 1 && string(values[0].Text()) == "number" {
		return list, exact
	}
	return union(list), keyNeeded
}

// sampleOf returns a value of a type that a $type names, for the types whose values have bounds.
func sampleOf(v query.Value) (query.Value, bool) {
	if n, ok := v.Integer(); ok {
		return sampleOfNumber(bson.Type(n))
	}
	names := map[string]bson.Type{
		"double": bson.TypeDouble, "string": bson.TypeString, "objectId": bson.TypeObjectID, "bool": bson.TypeBoolean, "date": bson.TypeDateTime,
		"int": bson.TypeInt32, "timestamp": bson.TypeTimestamp, "long": bson.TypeInt64, "decimal": bson.TypeDecimal128, "number": bson.TypeInt32,
	}
	t, ok := names[string(v.Text())]
	if !ok {
		return query.Value{}, false
	}
	return sampleOfNumber(t)
}

func sampleOfNumber(t bson.Type) (query.Value, bool) {
	switch t {
	case bson.TypeDouble, bson.TypeInt32, bson.TypeInt64, bson.TypeDecimal128:
		return query.Int32(0), true
	case bson.TypeString:
		return emptyText, true
	case bson.TypeObjectID, bson.TypeBoolean, bson.TypeDateTime, bson.TypeTimestamp:
		return query.Value{Type: t, Data: make([]byte, 12)}, true
	}
	return query.Value{}, false
}

// invertible are the operators whose opposite an index can find.
var invertible = []string{"$eq", "$lt", "$lte", "$gt", "$gte", "$in", "$exists", "$and"}

func (c *condition) opposite(field *indexField) ([]interval, tightness) {
	if len(c.children) != 1 || !slices.Contains(invertible, c.children[0].op) || c.children[0].value.IsArray() && c.children[0].op != "$in" {
		return nil, impossible
	}
	child := c.children[0]
	isNull := child.op == "$eq" && child.value.Type == bson.TypeNull
	switch {
	case child.op == "$and" || field.sparse && !isNull || isNull && field.multikey:
		return nil, impossible
	case child.op == "$exists":
		return []interval{point(null)}, docNeeded
	case isNull:
		return complement([]interval{point(null)}), exact
	}
	list, how := child.bounds(field)
	if how != exact {
		return nil, impossible
	}
	if field.multikey {
		how = docNeeded
	}
	return complement(list), how
}

// element bounds an $elemMatch on values by all that it asks for.
func (c *condition) element(field *indexField) ([]interval, tightness) {
	if len(c.children) == 0 {
		return nil, impossible
	}
	list := anything
	for _, each := range c.children {
		part, how := each.bounds(field)
		if how == impossible {
			return nil, impossible
		}
		list = intersection(list, part)
	}
	return list, docNeeded
}
