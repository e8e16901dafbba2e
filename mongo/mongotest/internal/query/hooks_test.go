package query_test

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// hooks are a language of expressions that is just large enough to see the hooks used: "$field", $literal, $eq and
// $divide, and the stages $set, $unset and $replaceWith.
var hooks = query.Hooks{Expr: compileExpr, Pipeline: compilePipeline}

func compileExpr(v query.Value) (query.Expr, error) {
	if text := string(v.Text()); len(text) > 1 && text[0] == '$' {
		return func(doc []byte, _ any) (query.Value, error) { return query.Lookup(doc, text[1:]), nil }, nil
	}
	if v.IsArray() {
		return compileArray(v)
	}
	it := wire.Elements(v.Data)
	if !v.IsDocument() || !it.Next() {
		return func([]byte, any) (query.Value, error) { return v, nil }, nil
	}
	of := query.Of(it.Element)
	switch name := string(it.Key); name {
	case "$literal":
		return func([]byte, any) (query.Value, error) { return of, nil }, nil
	case "$eq", "$divide":
		a, err := compileExpr(query.Lookup(of.Data, "0"))
		if err != nil {
			return nil, err
		}
		b, err := compileExpr(query.Lookup(of.Data, "1"))
		return binary(name, a, b), err
	case "$slice":
		return sliceExpr(of)
	default:
		return nil, &query.Error{Code: 168, Message: "Unrecognized expression '" + name + "'"}
	}
}

func compileArray(v query.Value) (query.Expr, error) {
	var list []query.Expr
	for _, e := range query.Elements(v.Data) {
		expr, err := compileExpr(e)
		if err != nil {
			return nil, err
		}
		list = append(list, expr)
	}
	return func(doc []byte, vars any) (query.Value, error) {
		var values []query.Value
		for _, e := range list {
			v, _ := e(doc, vars)
			values = append(values, v)
		}
		return query.Array(values), nil
	}, nil
}

// sliceExpr is as much of the expression $slice as there is to be seen where the projection of that name was meant.
func sliceExpr(v query.Value) (query.Expr, error) {
	n := 1
	if v.IsArray() {
		n = len(query.Elements(v.Data))
	}
	if n < 2 || n > 3 {
		return nil, &query.Error{Code: 28667, Message: fmt.Sprintf("Expression $slice takes at least 2 arguments, and at most 3, "+
			"but %d were passed in.", n)}
	}
	err := &query.Error{Code: 28724, Message: "First argument to $slice must be an array, but is of type: " +
		query.TypeName(query.Elements(v.Data)[0].Type)}
	return func([]byte, any) (query.Value, error) { return query.Value{}, err }, nil
}

func binary(name string, a, b query.Expr) query.Expr {
	return func(doc []byte, vars any) (query.Value, error) {
		x, err := a(doc, vars)
		if err != nil {
			return x, err
		}
		y, err := b(doc, vars)
		if err != nil {
			return y, err
		}
		if name == "$divide" && query.Equal(y, query.Int32(0)) {
			return y, &query.Error{Code: 2, Message: "can't $divide by zero"}
		}
		is := byte(0)
		if query.Equal(x, y) {
			is = 1
		}
		return query.Value{Type: bson.TypeBoolean, Data: []byte{is}}, nil
	}
}

func compilePipeline(stages query.Value) (query.Pipeline, error) {
	return func(doc []byte, vars any) ([]byte, error) {
		for _, stage := range query.Elements(stages.Data) {
			doc = runStage(doc, stage.Data, vars)
		}
		return doc, nil
	}, nil
}

func runStage(doc, stage []byte, vars any) []byte {
	it := wire.Elements(stage)
	it.Next()
	v := query.Of(it.Element)
	var next bson.D
	switch string(it.Key) {
	case "$replaceWith":
		if literal := query.Lookup(v.Data, "$literal"); literal.IsDocument() {
			return literal.Data
		}
		return v.Data
	case "$unset":
		_ = bson.Unmarshal(doc, &next)
		for i := range next {
			if next[i].Key == string(v.Text()) {
				next = append(next[:i], next[i+1:]...)
				break
			}
		}
	case "$set":
		_ = bson.Unmarshal(doc, &next)
		next = setFields(next, doc, v.Data, vars)
	}
	out, _ := bson.Marshal(next)
	return out
}

func setFields(next bson.D, doc, fields []byte, vars any) bson.D {
	it := wire.Elements(fields)
	for it.Next() {
		e, _ := compileExpr(query.Of(it.Element))
		v, _ := e(doc, vars)
		raw := bson.RawValue{Type: v.Type, Value: v.Data}
		found := false
		for i := range next {
			if next[i].Key == string(it.Key) {
				next[i].Value, found = raw, true
			}
		}
		if !found {
			next = append(next, bson.E{Key: string(it.Key), Value: raw})
		}
	}
	return next
}
