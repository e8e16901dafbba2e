package expr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	_ "time/tzdata" // the zones, wherever the tests run

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// evaluate returns what an expression gives for a document, or its error.
func evaluate(doc bson.Raw, expression query.Value) string {
	compiled, err := expr.Parse(expression, nil)
	if err != nil {
		return showError(err)
	}
	v, err := compiled.Eval(environment(doc))
	if err != nil {
		return showError(err)
	}
	return show(v)
}

// environment has sources that are always the same, and ends an evaluation that takes long.
func environment(doc bson.Raw) *expr.Env {
	asked := 0
	return &expr.Env{
		Work: query.NewWork(func() error {
			if asked++; asked > 5000 {
				return mongoerr.Errorf(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")
			}
			return nil
		}),
		Root: doc, Now: 1_700_000_000_000,
		Rand:  func() float64 { return 0.25 },
		NewID: func() [12]byte { return [12]byte{11: 1} },
	}
}

// show writes a value with its types.
func show(v query.Value) string {
	if v.Missing() {
		return "missing"
	}
	doc, err := bson.MarshalExtJSON(bson.D{{Key: "r", Value: bson.RawValue{Type: v.Type, Value: v.Data}}}, true, false)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(doc), `{"r":`), "}")
}

func showError(err error) string {
	var refused *mongoerr.Error
	if !errors.As(err, &refused) {
		return "not a *mongoerr.Error: " + err.Error()
	}
	return fmt.Sprintf("error %d %s", refused.Code, refused.Message)
}

// value reads a value from extended JSON.
func value(t testing.TB, s string) query.Value {
	t.Helper()
	return query.Lookup(document(t, `{"r":`+s+`}`), "r")
}

func document(t testing.TB, s string) bson.Raw {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(s), false, &d); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	doc, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
