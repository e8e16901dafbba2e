package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// letVariables are the variables of a let.
type letVariables struct {
	names       []string
	expressions []expr.Expression
}

// let compiles the let of a stage; each expression sees only the variables outside of it.
func (p *parser) let(doc []byte) (letVariables, error) {
	var let letVariables
	for _, f := range query.ObjectOf(doc) {
		if err := p.checkVariable(f.Name); err != nil {
			return let, err
		}
		e, err := p.expression(f.Value)
		if err != nil {
			return let, err
		}
		let.names, let.expressions = append(let.names, f.Name), append(let.expressions, e)
	}
	return let, nil
}

// checkVariable refuses a name that a variable cannot have, as a $let does.
func (p *parser) checkVariable(name string) error {
	vars := object{}.Set(name, null).Document()
	spec := object{}.Set("$let", object{}.Set("vars", vars).Set("in", null).Document())
	_, err := expr.Parse(spec.Document(), p.scope)
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

// isConstant reports whether an expression, as it is written, has the same value for every document.
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
		for _, f := range query.ObjectOf(v.Data) {
			switch {
			case f.Name == "$literal" || f.Name == "$const":
				continue
			case f.Name == "$rand" || f.Name == "$createObjectId" || !isConstant(f.Value):
				return false
			}
		}
	}
	return true
}

// isReference reports whether an expression is the path of a field or an operator's call.
func isReference(v Value) bool {
	if v.IsString() {
		return strings.HasPrefix(string(v.Text()), "$")
	}
	return isCall(v)
}

// isCall reports whether a value is a document whose first field is an operator.
func isCall(v Value) bool {
	if !v.IsDocument() {
		return false
	}
	fields := query.ObjectOf(v.Data)
	return len(fields) > 0 && strings.HasPrefix(fields[0].Name, "$")
}
