package query

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/core/schema-validation/handle-invalid-documents/

// Explain says why a document does not match a filter: the details of a failed validation. Vars are those of an $expr, names
// those of its errors' codes.
func Explain(filter, doc []byte, h Hooks, vars any, names func(code int32) string) []byte {
	e := explainer{h, vars, names}
	return e.filter(filter, doc, false)
}

type explainer struct {
	Hooks
	vars  any
	names func(code int32) string
}

// report is a document that is being written.
type report []byte

func newReport() report { _, dst := wire.BeginDocument(nil); return dst }

func (r report) text(key, s string) report            { return wire.AppendString(r, key, s) }
func (r report) value(key string, v Value) report     { return wire.AppendValue(r, key, v.Type, v.Data) }
func (r report) document(key string, d []byte) report { return wire.AppendDocument(r, key, d) }
func (r report) list(key string, l []Value) report    { return r.value(key, Array(l)) }
func (r report) end() []byte                          { return wire.EndDocument(r, 0) }

// clause is one condition of a filter as it is written.
type clause struct {
	name     string // of a field, or of an operator on the whole document
	operator string // "" for an operator on the whole document, or for a value that a field must be equal to
	value    Value
	options  Value // of a $regex
}

// clauses returns the conditions of a filter.
func clauses(filter []byte) []clause {
	var list []clause
	it := wire.Elements(filter)
	for it.Next() {
		name, v := string(it.Key), Of(it.Element)
		if name == "$comment" {
			continue
		}
		if strings.HasPrefix(name, "$") || !isExpression(v) {
			list = append(list, clause{name: name, value: v})
			continue
		}
		list = append(list, operatorClauses(name, v)...)
	}
	return list
}

func operatorClauses(name string, v Value) []clause {
	var list []clause
	it := wire.Elements(v.Data)
	for it.Next() {
		if string(it.Key) == "$regex" {
			list = append(list, clause{name, "$regex", Of(it.Element), Lookup(v.Data, "$options")})
			continue
		}
		if operator := string(it.Key); operator != "$options" {
			list = append(list, clause{name: name, operator: operator, value: Of(it.Element)})
		}
	}
	return list
}

// specified returns the clause as a filter.
func (c *clause) specified() []byte {
	if c.operator == "" {
		return newReport().value(c.name, c.value).end()
	}
	r := newReport().value(c.operator, c.value)
	if !c.options.Missing() {
		r = r.value("$options", c.options)
	}
	return newReport().document(c.name, r.end()).end()
}

func (e *explainer) matches(filter, doc []byte) bool {
	var f Filter
	if err := f.ParseWith(filter, e.Hooks); err != nil {
		return false
	}
	ok, err := f.MatchWith(doc, &Matching{Vars: e.vars})
	return ok && err == nil
}

// filter explains a filter. Inverted, it says why the document does match, which something around it does not want.
func (e *explainer) filter(filter, doc []byte, inverted bool) []byte {
	list := clauses(filter)
	if len(list) == 1 {
		return e.clause(&list[0], doc, inverted)
	}
	parts := make([][]byte, len(list))
	for i := range list {
		parts[i] = list[i].specified()
	}
	return e.parts("$and", parts, doc, inverted)
}

// parts explains those filters of a list that are not as they should be.
func (e *explainer) parts(operator string, list [][]byte, doc []byte, inverted bool) []byte {
	var wrong []Value
	for i, part := range list {
		if e.matches(part, doc) == inverted {
			r := newReport().value("index", Int32(int32(i))).annotated(Lookup(part, "$jsonSchema").Data)
			wrong = append(wrong, Document(r.document("details", e.filter(part, doc, inverted)).end()))
		}
	}
	name := "clausesNotSatisfied"
	if inverted {
		name = "clausesSatisfied"
	}
	return newReport().text("operatorName", operator).list(name, wrong).end()
}

func (e *explainer) clause(c *clause, doc []byte, inverted bool) []byte {
	switch c.name {
	case "$and", "$or", "$nor":
		var list [][]byte
		for _, v := range c.value.elements() {
			list = append(list, v.Data)
		}
		return e.parts(c.name, list, doc, inverted != (c.name == "$nor"))
	case "$expr":
		return e.expression(c, doc, inverted)
	case "$jsonSchema":
		return e.schema(c, doc, inverted)
	}
	if c.operator == "$not" {
		inner := newReport().value(c.name, c.value).end()
		return newReport().text("operatorName", "$not").document("details", e.filter(inner, doc, !inverted)).end()
	}
	return e.leaf(c, doc, inverted)
}

func (e *explainer) expression(c *clause, doc []byte, inverted bool) []byte {
	reason := "expression did not match"
	if inverted {
		reason = "expression did match"
	}
	r := newReport().text("operatorName", "$expr").document("specifiedAs", c.specified())
	x, err := e.Expr(c.value, nil)
	if err != nil {
		return r.end() // it was compiled before
	}
	v, err := x(doc, e.vars)
	var refused *mongoerr.Error
	switch {
	case errors.As(err, &refused):
		why := newReport().value("code", Int32(refused.Code)).text("codeName", e.names(refused.Code)).text("errmsg", refused.Message)
		return r.text("reason", "failed to evaluate aggregation expression").document("details", why.end()).end()
	case v.Missing():
		return r.text("reason", reason).end()
	}
	return r.text("reason", reason).value("expressionResult", v).end()
}

// reasons are the texts for an operator that does not match, and for one that does.
var reasons = map[string][2]string{
	"$eq": comparisonReasons, "$gt": comparisonReasons, "$gte": comparisonReasons, "$lt": comparisonReasons, "$lte": comparisonReasons,
	"$ne":        {comparisonReasons[1], comparisonReasons[0]},
	"$in":        {"no matching value found in array", "matching value found in array"},
	"$nin":       {"matching value found in array", "no matching value found in array"},
	"$type":      {"type did not match", "type did match"},
	"$exists":    {"path does not exist", "path does exist"},
	"$regex":     {"regular expression did not match", "regular expression did match"},
	"$mod":       {"$mod did not evaluate to expected remainder", "$mod did evaluate to expected remainder"},
	"$size":      {"array length was not equal to given size", "array length was equal to given size"},
	"$all":       {"array did not contain all specified values", "array did contain all specified values"},
	"$elemMatch": {"array did not satisfy the child predicate", "array did satisfy the child predicate"},
	"$geoWithin": withinReasons,
	"$within":    withinReasons,
	"$geoIntersects": {
		"none of the considered geometries intersected the expression’s geometry", "at least one of considered geometries intersected the expression’s geometry",
	},
	"$bitsAllSet":   bitReasons,
	"$bitsAllClear": bitReasons,
	"$bitsAnySet":   bitReasons,
	"$bitsAnyClear": bitReasons,
}

var (
	comparisonReasons = [2]string{"comparison failed", "comparison succeeded"}
	withinReasons     = [2]string{
		"none of the considered geometries were contained within the expression’s geometry",
		"at least one of considered geometries was contained within the expression’s geometry",
	}
	bitReasons = [2]string{"bitwise operator failed to match", "bitwise operator matched successfully"}
)

// expectedTypes are the types that an operator looks at.
var expectedTypes = map[string][]string{
	"$regex": {"regex", "string", "symbol"}, "$mod": {"decimal", "double", "int", "long"},
	"$size": {"array"}, "$all": nil, "$elemMatch": {"array"},
	"$bitsAllSet": bitTypes, "$bitsAllClear": bitTypes, "$bitsAnySet": bitTypes, "$bitsAnyClear": bitTypes,
}

var bitTypes = []string{"binData", "decimal", "double", "int", "long"}

// leaf explains a condition on the values at a path.
func (e *explainer) leaf(c *clause, doc []byte, inverted bool) []byte {
	operator := c.operator
	if operator == "" {
		if operator = "$eq"; c.value.Type == bson.TypeRegex {
			operator = "$regex"
		}
	}
	r := newReport().text("operatorName", operator).document("specifiedAs", c.specified())
	which := 0
	if inverted {
		which = 1
	}
	reason := reasons[operator][which]
	if operator == "$exists" {
		return r.text("reason", reasons[operator][boolIndex(Truth(c.value) == inverted)]).end()
	}
	ofArray := slices.Contains([]string{"$size", "$all", "$elemMatch"}, operator)
	values, everywhere := valuesAt(nil, Document(doc), splitPath(c.name), !ofArray)
	if len(values) == 0 && !everywhere {
		return r.text("reason", "field was missing").end()
	}
	expected := expectedTypes[operator]
	if expected != nil && !slices.ContainsFunc(values, func(v Value) bool { return slices.Contains(expected, TypeName(v.Type)) }) {
		return r.text("reason", "type did not match").types(values).expected(expected).considered(values).end()
	}
	if isGeo(operator) && !slices.ContainsFunc(values, func(v Value) bool { return storedGeometry(v) != nil }) && storedGeometry(Array(values)) == nil {
		reason = "could not find a valid geometry at the given path"
	}
	r = r.text("reason", reason).considered(values)
	if operator == "$type" {
		r = r.types(values)
	}
	return r.end()
}

func boolIndex(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (r report) considered(values []Value) report {
	if len(values) == 1 {
		return r.value("consideredValue", values[0])
	}
	return r.list("consideredValues", values)
}

func (r report) types(values []Value) report {
	var names []Value
	for _, v := range values {
		if name := Text(TypeName(v.Type)); !slices.ContainsFunc(names, func(n Value) bool { return Equal(n, name) }) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, Compare)
	switch len(names) {
	case 0:
		return r
	case 1:
		return r.value("consideredType", names[0])
	}
	return r.list("consideredTypes", names)
}

func (r report) expected(names []string) report {
	if len(names) == 1 {
		return r.text("expectedType", names[0])
	}
	var list []Value
	for _, name := range names {
		list = append(list, Text(name))
	}
	return r.list("expectedTypes", list)
}

// valuesAt returns the values that a path leads to, up to the first element of an array on the way in which there is nothing
// at it, and whether there was something everywhere; with expand an array's elements stand for it.
func valuesAt(values []Value, v Value, p path, expand bool) ([]Value, bool) {
	switch {
	case v.Missing():
		return values, false
	case v.IsArray() && len(p) == 0 && expand:
		return append(values, v.elements()...), true
	case len(p) == 0:
		return append(values, v), true
	case !v.IsArray():
		return valuesAt(values, v.lookup(p[0]), p[1:], expand)
	}
	something := false
	for i, element := range v.elements() {
		rest, inner := p, expand
		if !element.IsDocument() && p[0] == strconv.Itoa(i) {
			rest, inner = p[1:], expand && len(p) > 1
		} else if element.IsArray() {
			continue
		}
		if values, something = valuesAt(values, element, rest, inner); !something {
			return values, false
		}
	}
	return values, something
}
