package explain

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// condition is a filter, or a part of one. An $and without children is met by every document.
type condition struct {
	op       string // with its dollar sign
	path     string // "" for an operator of the whole document
	value    query.Value
	options  query.Value // of a $regex
	children []*condition
}

// parseFilter takes apart a filter that the server has accepted, and simplifies it.
// match, if it is not nil, evaluates what is the same for each document.
func parseFilter(doc []byte, match compiler) *condition {
	c := &condition{op: "$and", children: parseAll(doc)}
	if match != nil {
		c = match.folded(c)
	}
	return simplified(c)
}

func parseAll(doc []byte) []*condition {
	var list []*condition
	for it := wire.Elements(doc); it.Next(); {
		key, v := string(it.Key), query.Of(it.Element)
		switch {
		case key == "$and" || key == "$or" || key == "$nor":
			c := &condition{op: key}
			for _, each := range query.Elements(v.Data) {
				c.children = append(c.children, &condition{op: "$and", children: parseAll(each.Data)})
			}
			list = append(list, c)
		case key == "$comment":
		case strings.HasPrefix(key, "$"):
			list = append(list, &condition{op: key, value: v})
		default:
			list = append(list, parseField(key, v)...)
		}
	}
	return list
}

func parseField(path string, v query.Value) []*condition {
	if v.Type == bson.TypeRegex {
		return []*condition{regexOf(path, v)}
	}
	if !hasOperators(v) {
		return []*condition{{op: "$eq", path: path, value: v}}
	}
	if first := query.ObjectOf(v.Data)[0].Name; first == "$near" || first == "$nearSphere" || first == "$geoNear" {
		return []*condition{{op: "$near", path: path, value: v}}
	}
	var list []*condition
	options := query.Lookup(v.Data, "$options")
	for it := wire.Elements(v.Data); it.Next(); {
		op, value := string(it.Key), query.Of(it.Element)
		if op == "$options" {
			continue
		}
		c := parseOperator(path, op, value)
		if c.op == "$regex" && !options.Missing() {
			c.options = options
		}
		list = append(list, c)
	}
	return list
}

// hasOperators reports whether a document says how a field is compared. A DBRef is a value.
func hasOperators(v query.Value) bool {
	if !v.IsDocument() {
		return false
	}
	it := wire.Elements(v.Data)
	if !it.Next() || !strings.HasPrefix(string(it.Key), "$") {
		return false
	}
	return !query.IsReferenceField(string(it.Key))
}

// inverse are the operators that are the opposite of another.
var inverse = map[string]string{"$ne": "$eq", "$nin": "$in"}

func parseOperator(path, op string, v query.Value) *condition {
	switch op {
	case "$ne", "$nin":
		return &condition{op: "$not", children: []*condition{parseOperator(path, inverse[op], v)}}
	case "$not":
		return &condition{op: "$not", children: parseField(path, v)}
	case "$eq", "$regex":
		if v.Type == bson.TypeRegex {
			return regexOf(path, v)
		}
	case "$exists":
		c := &condition{op: op, path: path, value: query.Value{Type: bson.TypeBoolean, Data: []byte{1}}}
		if !v.True() {
			return &condition{op: "$not", children: []*condition{c}}
		}
		return c
	case "$all":
		c := &condition{op: "$and"}
		for _, each := range query.Elements(v.Data) {
			c.children = append(c.children, parseField(path, each)...)
		}
		return c
	case "$elemMatch":
		return parseElemMatch(path, v)
	case "$mod", "$type", "$bitsAllSet", "$bitsAllClear", "$bitsAnySet", "$bitsAnyClear":
		v = written(op, v)
	}
	return &condition{op: op, path: path, value: v}
}

// parseElemMatch takes apart an $elemMatch on values; what one on documents asks for belongs to another path, and is left as it is.
func parseElemMatch(path string, v query.Value) *condition {
	c := &condition{op: "$elemMatch", path: path, value: v}
	if hasOperators(v) && query.Lookup(v.Data, "$and").Missing() && query.Lookup(v.Data, "$or").Missing() &&
		query.Lookup(v.Data, "$nor").Missing() {
		c.children = ordered(parseField(path, v))
	} else {
		c.value.Data = parseFilter(v.Data, nil).document()
	}
	return c
}

func regexOf(path string, v query.Value) *condition {
	pattern, options := bson.RawValue{Type: v.Type, Value: v.Data}.Regex()
	c := &condition{op: "$regex", path: path, value: textOf(pattern)}
	if options != "" {
		c.options = textOf(options)
	}
	return c
}

func textOf(text string) query.Value {
	return query.Lookup(document(func(dst []byte) []byte { return wire.AppendString(dst, "v", text) }), "v")
}

// document returns a document with the fields that a function appends.
func document(fields func(dst []byte) []byte) []byte {
	at, dst := wire.BeginDocument(nil)
	return wire.EndDocument(fields(dst), at)
}

// simplified returns an equal condition as the engine writes it: without needless $and and $or, and in its order.
func simplified(c *condition) *condition {
	for i := range c.children {
		if c.op != "$elemMatch" {
			c.children[i] = simplified(c.children[i])
		}
	}
	switch c.op {
	case "$in":
		return simplifiedList(c)
	case "$and":
		return simplifiedAnd(c)
	case "$or":
		return simplifiedOr(c)
	case "$nor":
		if len(c.children) == 1 && isLeaf(c.children[0]) {
			return &condition{op: "$not", children: c.children}
		}
	}
	return c
}

// isLeaf reports whether a condition is about one path, so that $not may be written behind it.
func isLeaf(c *condition) bool { return c.path != "" }

func simplifiedAnd(c *condition) *condition {
	var list []*condition
	for _, each := range c.children {
		switch each.op {
		case "$and":
			list = append(list, each.children...)
		case "$alwaysFalse":
			return each
		case "$alwaysTrue":
		default:
			list = append(list, each)
		}
	}
	c.children = unique(ordered(list))
	if len(c.children) == 1 {
		return c.children[0]
	}
	return c
}

func simplifiedOr(c *condition) *condition {
	var list []*condition
	for _, each := range c.children {
		switch each.op {
		case "$or":
			list = append(list, each.children...)
		case "$alwaysFalse":
		default:
			list = append(list, each)
		}
	}
	c.children = unique(ordered(list))
	switch {
	case len(c.children) == 0:
		return never()
	case len(c.children) == 1:
		return c.children[0]
	case sameEqualities(c.children):
		return listOf(c.children)
	}
	return c
}

// never is the condition that no document meets.
func never() *condition { return &condition{op: "$alwaysFalse", value: query.Int32(1)} }

// sameEqualities reports whether all conditions are equalities of the same path.
func sameEqualities(list []*condition) bool {
	return !slices.ContainsFunc(list, func(c *condition) bool { return c.op != "$eq" || c.path != list[0].path })
}

// listOf makes one $in of equalities.
func listOf(list []*condition) *condition {
	at, dst := wire.BeginDocument(nil)
	for i, c := range list {
		dst = wire.AppendValue(dst, wire.ArrayKey(i), c.value.Type, c.value.Data)
	}
	dst = wire.EndDocument(dst, at)
	return simplifiedList(&condition{op: "$in", path: list[0].path, value: query.Value{Type: bson.TypeArray, Data: dst}})
}

// simplifiedList puts the values of an $in in order, once each. One value is an equality, none is met by nothing.
func simplifiedList(c *condition) *condition {
	values := query.Elements(c.value.Data)
	slices.SortStableFunc(values, query.Compare)
	values = slices.CompactFunc(values, func(a, b query.Value) bool { return query.Compare(a, b) == 0 })
	switch {
	case len(values) == 0:
		return never()
	case len(values) == 1 && values[0].Type == bson.TypeRegex:
		return regexOf(c.path, values[0])
	case len(values) == 1:
		return &condition{op: "$eq", path: c.path, value: values[0]}
	}
	at, dst := wire.BeginDocument(nil)
	for i, v := range values {
		dst = wire.AppendValue(dst, wire.ArrayKey(i), v.Type, v.Data)
	}
	return &condition{op: "$in", path: c.path, value: query.Value{Type: bson.TypeArray, Data: wire.EndDocument(dst, at)}}
}

// rankOf is the place of each operator in the engine's order; one that is not named comes last.
var rankOf = rank("$and", "$or", "$elemMatch", "$size", "$eq", "$lte", "$lt", "$gt", "$gte", "$regex", "$mod", "$exists", "$in", "$bitsAllSet",
	"$bitsAllClear", "$bitsAnySet", "$bitsAnyClear", "$not", "$nor", "$type")

func rank(ops ...string) map[string]int {
	m := make(map[string]int, len(ops))
	for i, op := range ops {
		m[op] = i - len(ops)
	}
	return m
}

func ordered(list []*condition) []*condition {
	slices.SortStableFunc(list, compare)
	return list
}

func compare(a, b *condition) int {
	if c := cmp.Or(cmp.Compare(rankOf[a.op], rankOf[b.op]), cmp.Compare(a.path, b.path)); c != 0 {
		return c
	}
	if a.placed() && b.placed() {
		return 0
	}
	if len(a.children) == 0 && len(b.children) == 0 {
		return query.Compare(a.value, b.value)
	}
	return slices.CompareFunc(a.children, b.children, compare)
}

func unique(list []*condition) []*condition {
	return slices.CompactFunc(list, func(a, b *condition) bool { return string(a.document()) == string(b.document()) })
}

// document writes the condition as a filter.
func (c *condition) document() []byte { return document(c.append) }

// append writes the condition's fields.
func (c *condition) append(dst []byte) []byte {
	switch {
	case c.op == "$and" && len(c.children) == 0:
		return dst
	case c.op == "$and" || c.op == "$or" || c.op == "$nor":
		at, dst := wire.BeginArray(dst, c.op)
		for i, each := range c.children {
			dst = wire.AppendDocument(dst, wire.ArrayKey(i), each.document())
		}
		return wire.EndDocument(dst, at)
	case c.op == "$not":
		at, dst := wire.BeginEmbedded(dst, c.children[0].field())
		not, dst := wire.BeginEmbedded(dst, "$not")
		for _, each := range c.children {
			dst = each.appendOperator(dst)
		}
		return wire.EndDocument(wire.EndDocument(dst, not), at)
	case c.path == "":
		return wire.AppendValue(dst, c.op, c.value.Type, c.value.Data)
	case c.op == "$near":
		return wire.AppendDocument(dst, c.path, c.value.Data)
	}
	at, dst := wire.BeginEmbedded(dst, c.path)
	return wire.EndDocument(c.appendOperator(dst), at)
}

// field is the path that a condition is about.
func (c *condition) field() string {
	if c.path == "" && len(c.children) > 0 {
		return c.children[0].field()
	}
	return c.path
}

func (c *condition) appendOperator(dst []byte) []byte {
	switch {
	case c.op == "$not" || c.op == "$and" && len(c.children) > 0:
		for _, each := range c.children {
			at, d := 0, dst
			if c.op == "$not" {
				at, d = wire.BeginEmbedded(dst, "$not")
			}
			d = each.appendOperator(d)
			if c.op == "$not" {
				d = wire.EndDocument(d, at)
			}
			dst = d
		}
		return dst
	case c.op == "$elemMatch" && len(c.children) > 0:
		at, dst := wire.BeginEmbedded(dst, c.op)
		for _, each := range c.children {
			dst = each.appendOperator(dst)
		}
		return wire.EndDocument(dst, at)
	}
	dst = wire.AppendValue(dst, c.op, c.value.Type, c.value.Data)
	if !c.options.Missing() {
		dst = wire.AppendValue(dst, "$options", c.options.Type, c.options.Data)
	}
	return dst
}
