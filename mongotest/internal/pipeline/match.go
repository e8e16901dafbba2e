package pipeline

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/match/

type match struct {
	filter   query.Filter
	db, coll string
	inside   bool // in a pipeline of another stage
}

func parseMatch(p *parser, _ string, spec Value) (stage, error) {
	if !spec.IsDocument() {
		return nil, mongoerr.Errorf(15959, "the match filter must be an expression in an object")
	}
	m := &match{db: p.DB, coll: p.Coll, inside: p.nested}
	h := hooks(p.scope)
	h.Searches.Text = true
	err := m.filter.ParseCollated(spec.Data, h, p.Collation)
	if !p.fails(err) {
		return m, err
	}
	return perDocument(func(*runner, []byte) ([]byte, error) { return nil, err }), nil
}

func (m *match) run(r *runner, in stream) stream {
	if m.filter.Text() != nil {
		return deferred(func() ([][]byte, error) {
			docs, err := r.Source.Text(m.db, m.coll, &m.filter, r.env)
			return docs, r.failed(m.inside, err)
		})
	}
	return perDocument(func(r *runner, doc []byte) ([]byte, error) {
		ok, err := m.filter.MatchWith(query.Plain(doc), &r.matching)
		if !ok {
			return nil, err
		}
		return doc, nil
	}).run(r, in)
}

// NotInMatch refuses what only the filters of a collection's documents may have, and a $match may not.
func NotInMatch(operator string) error {
	if operator == "$where" {
		return mongoerr.Errorf(mongoerr.BadValue, "$where is not allowed in this context")
	}
	return nil
}

// hooks let a filter use expressions with the variables of a scope; the filter's variables are an *expr.Env.
func hooks(scope *expr.Scope) query.Hooks {
	return query.Hooks{Refused: NotInMatch, Expr: func(v Value, c query.Collation) (query.Expr, error) {
		e, err := expr.Parse(v, scope.By(c))
		if err != nil {
			return nil, err
		}
		return func(doc []byte, vars any) (Value, error) {
			env := vars.(*expr.Env)
			env.Root, env.Collation = doc, c
			v, err := e.Eval(env)
			return query.PlainValue(v), err
		}, nil
	}}
}
