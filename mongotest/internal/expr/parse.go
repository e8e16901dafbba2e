package expr

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// maxDepth is how deep BSON may nest.
const maxDepth = 200

// Parse compiles an expression. Like the real server it evaluates constant parts, so an error of a constant part is an
// error of Parse, unless the syntax is wrong elsewhere.
func Parse(v Value, scope *Scope) (Expression, error) {
	p := &parser{scope: scope}
	e, err := p.expression(v)
	if err != nil {
		return nil, err
	}
	return optimize(e, scope.Collation())
}

// ParseAsWritten compiles an expression of which nothing is evaluated ahead of time: one of an update, which the real server does
// not optimize.
func ParseAsWritten(v Value, scope *Scope) (Expression, error) {
	p := &parser{scope: scope}
	return p.expression(v)
}

// ParseFree compiles an expression that is evaluated before there is a document, so that it must not look at one.
func ParseFree(v Value, scope *Scope) (Expression, error) {
	p := &parser{scope: scope}
	e, err := p.expression(v)
	if err != nil {
		return nil, err
	}
	if p.rooted {
		return nil, mongoerr.Errorf(4890500, "Command let Expression tried to access a field, but this is not allowed becauseCommand let Expressions "+
			"run before the query examines any documents.")
	}
	return optimize(e, scope.Collation())
}

// parser is the state of one Parse.
type parser struct {
	scope  *Scope
	depth  int
	rooted bool // something is of the document
}

// within parses with other variables in scope.
func (p *parser) within(scope *Scope, v Value) (Expression, error) {
	outer := p.scope
	p.scope = scope
	e, err := p.expression(v)
	p.scope = outer
	return e, err
}

func (p *parser) expression(v Value) (Expression, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, mongoerr.Errorf(mongoerr.Overflow, "BSONObj exceeds maximum nested object depth: %d", maxDepth)
	}
	defer func() { p.depth-- }()
	switch v.Type {
	case bson.TypeString:
		if s := string(v.Text()); strings.HasPrefix(s, "$") {
			return p.path(s)
		}
	case bson.TypeArray:
		return p.list(v)
	case bson.TypeEmbeddedDocument:
		it := wire.Elements(v.Data)
		if it.Next() && len(it.Key) > 0 && it.Key[0] == '$' {
			return p.operator(v)
		}
		return p.document(v.Data)
	}
	return constant{v}, nil
}

func (p *parser) expressions(values []Value) ([]Expression, error) {
	parsed := make([]Expression, 0, len(values))
	for _, v := range values {
		e, err := p.expression(v)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, e)
	}
	return parsed, nil
}

// arguments parses the arguments in an array, or a single one without.
func (p *parser) arguments(v Value) ([]Expression, error) {
	if v.IsArray() {
		return p.expressions(query.Elements(v.Data))
	}
	return p.expressions([]Value{v})
}

func (p *parser) list(v Value) (Expression, error) {
	elements, err := p.expressions(query.Elements(v.Data))
	if err != nil {
		return nil, err
	}
	return list(elements), nil
}

func (p *parser) document(doc []byte) (Expression, error) {
	d := &document{}
	it := wire.Elements(doc)
	for it.Next() {
		name := string(it.Key)
		if err := query.CheckExpressionName(name); err != nil {
			return nil, err
		}
		e, err := p.expression(query.Of(it.Element))
		if err != nil {
			return nil, err
		}
		d.names, d.values = append(d.names, name), append(d.values, e)
	}
	return d, nil
}

// operator parses {$name: arguments}.
func (p *parser) operator(v Value) (Expression, error) {
	fields := query.ObjectOf(v.Data)
	if len(fields) > 1 {
		return nil, mongoerr.Errorf(15983, "An object representing an expression must have exactly one field: %s", v)
	}
	op, ok := operators[fields[0].Name]
	if !ok {
		if unsupported[fields[0].Name] {
			return nil, mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: the expression %s is not supported", fields[0].Name)
		}
		return nil, mongoerr.Errorf(mongoerr.InvalidPipelineOperator, "Unrecognized expression '%s'", fields[0].Name)
	}
	return op.parse(p, op, fields[0].Value)
}

// path parses "$field" and "$$variable.field".
func (p *parser) path(s string) (Expression, error) {
	if s == "$" {
		return nil, mongoerr.Errorf(16872, "'$' by itself is not a valid FieldPath")
	}
	name, rest, dotted := "CURRENT", s[1:], true
	if strings.HasPrefix(rest, "$") {
		name, rest, dotted = strings.Cut(rest[1:], ".")
		if err := checkVariableUse(name); err != nil {
			return nil, err
		}
	}
	slot, ok := p.scope.lookup(name)
	switch {
	case name == "SEARCH_META":
		return nil, mongoerr.Errorf(6347902, "Can't access $$SEARCH_META without a $search stage earlier in the pipeline")
	case name == "USER_ROLES":
		return constant{array(nil)}, nil // there are no logins
	case !ok:
		return nil, mongoerr.Errorf(17276, "Use of undefined variable: %s", name)
	}
	var names []string
	if dotted {
		var err error
		if names, err = query.FieldPath(rest); err != nil {
			return nil, err
		}
	}
	if slot == slotRemove {
		return constant{missing}, nil
	}
	p.rooted = p.rooted || slot == slotRoot
	return &path{name: name, slot: slot, names: names}, nil
}
