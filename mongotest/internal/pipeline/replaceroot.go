package pipeline

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/replaceRoot/
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/replaceWith/

func parseReplaceRoot(p *parser, name string, spec Value) (stage, error) {
	if !spec.IsDocument() {
		return nil, mongoerr.Errorf(40229, "expected an object as specification for %s stage, got %s", name, typeName(spec))
	}
	fields, err := parseOptions(name, spec.Data, []option{{name: "newRoot", required: true}})
	if err != nil {
		return nil, err
	}
	return parseReplacement(p, "'newRoot' expression ", fields.Get("newRoot"))
}

func parseReplaceWith(p *parser, _ string, spec Value) (stage, error) {
	return parseReplacement(p, "'replacement document' ", spec)
}

func parseReplacement(p *parser, what string, spec Value) (stage, error) {
	e, err := p.expression(spec)
	if err != nil {
		return nil, err
	}
	return perDocument(func(r *runner, doc []byte) ([]byte, error) { return evalDocument(r, e, doc, what) }), nil
}

// evalDocument returns an expression's value, which must be a document.
func evalDocument(r *runner, e expr.Expression, doc []byte, what string) ([]byte, error) {
	v, err := r.eval(e, doc)
	if err != nil {
		return nil, err
	}
	if !v.IsDocument() {
		return nil, notDocument(what, v, doc)
	}
	return v.Data, nil
}

func notDocument(what string, v Value, doc []byte) error {
	return mongoerr.Errorf(40228, "%s must evaluate to an object, but resulting value was: %s. Type of resulting value: '%s'. Input document: %s",
		what, spelled(v), typeName(v), spelled(query.Document(doc)))
}
