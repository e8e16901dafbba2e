package query

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// filterParser compiles filters. The zero value is ready.
type filterParser struct {
	expr      func(Value, Collation) (Expr, error)
	where     func(Value) (Expr, error)
	refused   func(operator string) error
	array     bool      // in an array filter
	inner     bool      // not on the whole document: within $elemMatch, $pull or an array filter
	shown     bool      // in the $elemMatch of a projection
	collation Collation // nil if strings are compared by their bytes
	at        string    // the field

	searches Searches // that the filter may have
	counted  *searched

	depth  int   // how many conditions of several others this is in
	failed error // the first error of a constant expression, which goes behind those of syntax
}

// filter appends the conditions of a filter document to nodes.
func (p *filterParser) filter(doc []byte, nodes []node) ([]node, error) {
	if several(doc) {
		p.depth++
		defer func() { p.depth-- }()
	}
	it := wire.Elements(doc)
	for it.Next() {
		var err error
		if nodes, err = p.field(nodes, string(it.Key), Of(it.Element)); err != nil {
			return nil, err
		}
	}
	return nodes, it.Err
}

// several reports whether a filter document has more than one condition.
func several(doc []byte) bool {
	n := 0
	it := wire.Elements(doc)
	for it.Next() {
		if string(it.Key) != "$comment" {
			n++
		}
	}
	return n > 1
}

func (p *filterParser) field(nodes []node, key string, v Value) ([]node, error) {
	if key != "" && key[0] == '$' {
		return p.topLevel(nodes, key, v)
	}
	p.at = key
	conditions, err := p.conditions(v)
	at := splitPath(key)
	for _, c := range conditions {
		nodes = append(nodes, &pathNode{path: at, condition: c})
	}
	return nodes, err
}

// topOperators compile the operators of a whole filter. It is never written to after init.
var topOperators map[string]func(p *filterParser, nodes []node, key string, v Value) ([]node, error)

// Operators returns the names of the operators that a filter may have.
func Operators() []string {
	names := append(slices.Collect(maps.Keys(topOperators)), "$near", "$nearSphere", "$geoNear")
	return slices.Sorted(slices.Values(slices.AppendSeq(names, maps.Keys(fieldOperators))))
}

func (p *filterParser) topLevel(nodes []node, key string, v Value) ([]node, error) {
	if parse, ok := topOperators[key]; ok {
		return parse(p, nodes, key, v)
	}
	switch key {
	case "$ref", "$id", "$db": // of a DBRef
		return append(nodes, &pathNode{path: path{key}, condition: p.equality(v)}), nil
	case "$sampleRate":
		if p.inner && !p.array {
			return nil, p.misplaced(key)
		}
		return nil, unsupported("the query operator", key)
	case "$not":
		return nil, mongoerr.Errorf(mongoerr.BadValue, "unknown top level operator: $not. If you are trying to negate an entire expression, use $nor.")
	}
	return nil, mongoerr.Errorf(mongoerr.BadValue, "unknown top level operator: %s. If you have a field name that starts with a '$' symbol, "+
		"consider using $getField or $setField.", key)
}

func (p *filterParser) schema(nodes []node, key string, v Value) ([]node, error) {
	if p.array || p.shown {
		return nil, p.misplaced(key)
	}
	if err := p.refusal(key); err != nil {
		return nil, err
	}
	all, err := parseSchemaNodes(v)
	return append(nodes, all...), err
}

// script is $where.
func (p *filterParser) script(nodes []node, key string, v Value) ([]node, error) {
	if p.inner {
		return nil, p.misplaced(key)
	}
	if err := p.refusal(key); err != nil {
		return nil, err
	}
	n, err := p.outside(key, v)
	return append(nodes, n), err
}

// outside compiles the code of a $where.
func (p *filterParser) outside(operator string, v Value) (node, error) {
	if p.where == nil {
		return nil, unsupported("the query operator", operator)
	}
	e, err := p.where(v)
	return exprNode{e}, err
}

func (p *filterParser) refusal(operator string) error {
	if p.refused == nil {
		return nil
	}
	return p.refused(operator)
}

func parseConstant(key string, v Value) (node, error) {
	switch n, refused := IntegerOf(key, v); {
	case refused != "":
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "%s", refused)
	case n != 1:
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "%s must be an integer value of 1", key)
	}
	return constant(key == "$alwaysTrue"), nil
}

// misplaced refuses an operator that needs the whole document.
func (p *filterParser) misplaced(key string) error {
	if (p.array || p.shown) && key == "$where" {
		return mongoerr.Errorf(mongoerr.BadValue, "%s is not allowed in this context", key)
	}
	if p.array || p.shown && key == "$jsonSchema" {
		return mongoerr.Errorf(mongoerr.QueryFeatureNotAllowed, "%s is not allowed in this context", key)
	}
	return mongoerr.Errorf(mongoerr.BadValue, "%s can only be applied to the top-level document", key)
}

func (p *filterParser) expression(v Value) (node, error) {
	switch {
	case p.inner:
		return nil, p.misplaced("$expr")
	case p.expr == nil:
		return nil, unsupported("the query operator", "$expr")
	}
	e, err := p.expr(v, p.collation)
	var refused *mongoerr.Error
	if errors.As(err, &refused) && refused.Constant {
		if p.failed == nil {
			reason := strings.Repeat("Failed to optimize expression :: caused by :: ", p.depth+1)
			p.failed = &mongoerr.Error{Code: refused.Code, Message: reason + refused.Message, Constant: true}
		}
		return exprNode{}, nil
	}
	return exprNode{e}, err
}

// logical compiles $and, $or and $nor. A condition that must hold anyway joins the conditions beside it.
func (p *filterParser) logical(nodes []node, key string, v Value) ([]node, error) {
	if !v.IsArray() {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "%s argument must be an array", key)
	}
	list := v.elements()
	if len(list) == 0 {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "%s argument must be a non-empty array", key)
	}
	p.depth++
	defer func() { p.depth-- }()
	if key == "$nor" && p.counted != nil {
		was := p.counted.texts
		defer func() { p.counted.negated = p.counted.negated || p.counted.texts > was }()
	}
	var branches [][]node
	for _, e := range list {
		if !e.IsDocument() {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "%s argument's entries must be objects", key)
		}
		branch, err := p.filter(e.Data, nil)
		if err != nil {
			return nil, err
		}
		branches = append(branches, branch)
	}
	switch {
	case key == "$nor":
		return append(nodes, norNode(expressionsLast(branches))), nil
	case key == "$and" || len(branches) == 1:
		for _, branch := range branches {
			nodes = append(nodes, branch...)
		}
		return nodes, nil
	}
	return append(nodes, alternatives(expressionsLast(branches))), nil
}

// expressionsLast sorts branches as the real server does, as far as it shows: it decides whether an expression is asked.
func expressionsLast(branches [][]node) [][]node {
	slices.SortStableFunc(branches, func(a, b []node) int { return boolCompare(isOnlyExpr(a), isOnlyExpr(b)) })
	return branches
}

func isOnlyExpr(branch []node) bool {
	if len(branch) != 1 {
		return false
	}
	_, ok := branch[0].(exprNode)
	return ok
}

// alternatives returns an $or; of equalities on one path, the $in that the real server makes of them.
func alternatives(branches [][]node) node {
	var list in
	var at path
	for _, branch := range branches {
		if len(branch) != 1 {
			return orNode(branches)
		}
		n, ok := branch[0].(*pathNode)
		if !ok || at != nil && dotted(at) != dotted(n.path) {
			return orNode(branches)
		}
		e, ok := n.condition.(*equality)
		if !ok {
			return orNode(branches)
		}
		at, list.list = n.path, append(list.list, e.predicate)
	}
	list.collect()
	return &pathNode{path: at, condition: &leaf{predicate: list, expand: true}}
}

// conditions compiles what stands behind a field's name in a filter.
func (p *filterParser) conditions(v Value) ([]condition, error) {
	switch {
	case v.Type == bson.TypeRegex:
		c, err := parseRegexValue(v)
		return []condition{c}, err
	case v.Type == bson.TypeUndefined:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "cannot compare to undefined")
	case isExpression(v):
		return p.operators(v.Data)
	}
	return []condition{p.equality(v)}, nil
}

// isExpression reports whether v is a document whose first key is an operator.
func isExpression(v Value) bool {
	if !v.IsDocument() {
		return false
	}
	it := wire.Elements(v.Data)
	if !it.Next() || len(it.Key) == 0 || it.Key[0] != '$' {
		return false
	}
	return !isReference(v)
}

// hasReferenceField reports whether a document has a field of a DBRef.
func hasReferenceField(v Value) bool {
	it := wire.Elements(v.Data)
	for it.Next() {
		if IsReferenceField(string(it.Key)) {
			return true
		}
	}
	return false
}

// isReference reports whether a document is a DBRef, which is a value.
func isReference(v Value) bool {
	return !Lookup(v.Data, "$ref").Missing() && !Lookup(v.Data, "$id").Missing()
}

// operators compiles an expression of operators on one field.
func (p *filterParser) operators(doc []byte) ([]condition, error) {
	if beginsWithNear(doc) {
		c, err := p.near(doc)
		return []condition{c}, err
	}
	var conditions []condition
	it := wire.Elements(doc)
	for it.Next() {
		c, err := p.operator(string(it.Key), Of(it.Element), doc)
		if err != nil {
			return nil, err
		}
		if c != nil {
			conditions = append(conditions, c)
		}
	}
	return conditions, it.Err
}

// fieldOperators compile the operators of one field; whole is the expression, for $regex and $options. A nil condition asks
// nothing. It is never written to after init.
var fieldOperators map[string]func(p *filterParser, key string, v Value, whole []byte) (condition, error)

// operator compiles one operator; whole is the expression, for $regex and $options.
func (p *filterParser) operator(key string, v Value, whole []byte) (condition, error) {
	if parse, ok := fieldOperators[key]; ok {
		return parse(p, key, v, whole)
	}
	if isNear(key) {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "near must be first in: %s", shellDocument(whole))
	}
	return nil, mongoerr.Errorf(mongoerr.BadValue, "unknown operator: %s", key)
}
