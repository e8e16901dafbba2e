package expr

import "github.com/holdfast-db/holdfast/mongotest/internal/query"

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/meta/

var metaOperators = []operator{{name: "$meta", parse: parseMeta}}

// meta is a value that belongs to the document.
type meta struct{ name string }

func parseMeta(_ *parser, _ *operator, v Value) (Expression, error) {
	name, err := query.MetaName(v)
	return meta{name}, err
}

// Eval returns the value, Missing if the document has none.
func (m meta) Eval(env *Env) (Value, error) { return query.Meta(env.Root, m.name), nil }

// Constant returns the value of an expression that always has the same.
func Constant(e Expression) (Value, bool) {
	c, ok := e.(constant)
	return c.value, ok
}
