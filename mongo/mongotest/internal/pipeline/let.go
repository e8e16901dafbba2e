package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// letVariables are the variables of a let.
type letVariables struct {
	names       []string
	expressions []expr.Expression
}

// let compiles the let of a stage; each expression sees only the variables outside of it.
func (p *parser) let(doc []byte) (letVariables, error) {
	var let letVariables
	for _, f := range fieldsOf(doc) {
		if err := p.checkVariable(f.name); err != nil {
			return let, err
		}
		e, err := p.expression(f.value)
		if err != nil {
			return let, err
		}
		let.names, let.expressions = append(let.names, f.name), append(let.expressions, e)
	}
	return let, nil
}

// checkVariable refuses a name that a variable cannot have, as a $let does.
func (p *parser) checkVariable(name string) error {
	vars := object{{name, null}}.value()
	spec := object{{"$let", object{{"vars", vars}, {"in", null}}.value()}}
	_, err := expr.Parse(spec.value(), p.scope)
	return err
}

func (l letVariables) values(r *runner, doc []byte) ([]Value, error) {
	values := make([]Value, len(l.expressions))
	for i, e := range l.expressions {
		v, err := r.eval(e, doc)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}

// isConstant tells whether an expression, as it is written, has the same value for every document.
func isConstant(v Value) bool {
	switch v.Type {
	case bson.TypeString:
		s := string(v.Text())
		return !strings.HasPrefix(s, "$") || s == "$$REMOVE"
	case bson.TypeArray:
		for _, e := range query.Elements(v.Data) {
			if !isConstant(e) {
				return false
			}
		}
	case bson.TypeEmbeddedDocument:
		for _, f := range fieldsOf(v.Data) {
			switch {
			case f.name == "$literal" || f.name == "$const":
				continue
			case f.name == "$rand" || f.name == "$createObjectId" || !isConstant(f.value):
				return false
			}
		}
	}
	return true
}

// isReference tells whether an expression is the path of a field or an operator's call.
func isReference(v Value) bool {
	if isText(v) {
		return strings.HasPrefix(string(v.Text()), "$")
	}
	return isCall(v)
}

// isCall tells whether a value is a document whose first field is an operator.
func isCall(v Value) bool {
	if !v.IsDocument() {
		return false
	}
	fields := fieldsOf(v.Data)
	return len(fields) > 0 && strings.HasPrefix(fields[0].name, "$")
}
