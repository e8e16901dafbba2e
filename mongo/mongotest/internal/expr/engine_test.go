package expr_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	_ "time/tzdata" // the zones, wherever the tests run

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/spectest"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// engine is MongoDB's own engine, which says what is right.
type engine struct {
	t    *testing.T
	docs *mongo.Collection
}

func newEngine(t *testing.T) *engine {
	t.Helper()
	uri := spectest.Server(t)
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	db := client.Database(fmt.Sprintf("mongotest_expr_%d", os.Getpid()))
	t.Cleanup(func() {
		_ = db.Drop(context.Background())
		_ = client.Disconnect(context.Background())
	})
	return &engine{t, db.Collection(t.Name())}
}

// insert stores documents, whose _id are their places.
func (e *engine) insert(docs ...bson.Raw) {
	e.t.Helper()
	if _, err := e.docs.InsertMany(e.t.Context(), docs); err != nil {
		e.t.Fatal(err)
	}
}

// aggregate runs a pipeline and returns the field r of its only result. It repeats a case once where the server went away.
func (e *engine) aggregate(stages ...bson.D) string {
	e.t.Helper()
	for try := 0; ; try++ {
		result, err := e.run(stages)
		var refused mongo.CommandError
		switch {
		case err == nil:
			return result
		case errors.As(err, &refused) && refused.Code != 0:
			return fmt.Sprintf("error %d %s", refused.Code, cause(refused.Message))
		case try == 1:
			e.t.Fatal(err)
		}
	}
}

func (e *engine) run(pipeline []bson.D) (string, error) {
	cursor, err := e.docs.Aggregate(e.t.Context(), pipeline)
	if err != nil {
		return "", err
	}
	var docs []bson.Raw
	if err := cursor.All(e.t.Context(), &docs); err != nil {
		return "", err
	}
	if len(docs) != 1 {
		return "", fmt.Errorf("%d results", len(docs))
	}
	return show(query.Lookup(docs[0], "r")), nil
}

// evaluate returns what the engine makes of an expression for the document with an _id.
func (e *engine) evaluate(id int, expression query.Value) string {
	e.t.Helper()
	return e.aggregate(bson.D{{Key: "$match", Value: bson.D{{Key: "_id", Value: id}}}},
		bson.D{{Key: "$replaceWith", Value: bson.D{{Key: "r", Value: raw(expression)}}}})
}

func raw(v query.Value) bson.RawValue { return bson.RawValue{Type: v.Type, Value: v.Data} }

// wrapped is what the engine puts before the text of an expression's error: where it came up.
var wrapped = regexp.MustCompile(`^(Executor error during aggregate command on namespace: \S+|Failed to optimize pipeline) :: caused by :: `)

func cause(message string) string { return wrapped.ReplaceAllString(message, "") }

// show writes a value with its types.
func show(v query.Value) string {
	if v.Missing() {
		return "missing"
	}
	doc, err := bson.MarshalExtJSON(bson.D{{Key: "r", Value: raw(v)}}, true, false)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(doc), `{"r":`), "}")
}

// evaluate returns what this package makes of an expression for a document.
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

// environment has sources that are always the same.
func environment(doc bson.Raw) *expr.Env {
	return &expr.Env{
		Root: doc, Now: 1_700_000_000_000,
		Rand:  func() float64 { return 0.25 },
		NewID: func() [12]byte { return [12]byte{11: 1} },
	}
}

func showError(err error) string {
	var refused *query.Error
	if !errors.As(err, &refused) {
		return "not a *query.Error: " + err.Error()
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

// oneLine writes a result so that it fits a line of a text file.
func oneLine(result string) string {
	return strings.NewReplacer("\n", `\n`, "\x00", `\0`).Replace(strings.ToValidUTF8(result, "?"))
}
