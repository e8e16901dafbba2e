package expr_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

func TestWhatComesFromEnv(t *testing.T) {
	doc := document(t, `{"a": 1}`)
	for expression, want := range map[string]string{
		`{"$rand": {}}`:           `{"$numberDouble":"0.25"}`,
		`{"$createObjectId": {}}`: `{"$oid":"000000000000000000000001"}`,
		`{"$currentDate": {}}`:    `{"$date":{"$numberLong":"1700000000000"}}`,
		`"$$NOW"`:                 `{"$date":{"$numberLong":"1700000000000"}}`,
		`"$$ROOT"`:                `{"a":{"$numberInt":"1"}}`,
		`"$$CURRENT.a"`:           `{"$numberInt":"1"}`,
		`"$$CLUSTER_TIME"`:        `error 51144 Builtin variable '$$CLUSTER_TIME' is not available`,
	} {
		if got := evaluate(doc, value(t, expression)); got != want {
			t.Errorf("%s: got %s, want %s", expression, got, want)
		}
	}
}

func TestTheVariablesOfAScopeAreThoseOfEnvInItsOrder(t *testing.T) {
	e, err := expr.Parse(value(t, `["$$x", "$$y.a", {"$let": {"vars": {"x": "$$y"}, "in": "$$x"}}, "$$x", "$$CLUSTER_TIME"]`), expr.NewScope("x", "y"))
	if err != nil {
		t.Fatal(err)
	}
	env := environment(document(t, `{}`))
	env.Vars = []query.Value{query.Int32(7), value(t, `{"a": 8}`)}
	env.ClusterTime = query.Value{Type: bson.TypeTimestamp, Data: []byte{2, 0, 0, 0, 1, 0, 0, 0}}
	got, err := e.Eval(env)
	const want = `[{"$numberInt":"7"},{"$numberInt":"8"},{"a":{"$numberInt":"8"}},{"$numberInt":"7"},{"$timestamp":{"t":1,"i":2}}]`
	if err != nil || show(got) != want {
		t.Errorf("got %s, %v; want %s", show(got), err, want)
	}
}

func TestWithoutASourceItIsRefusedByName(t *testing.T) {
	for _, expression := range []string{`{"$rand": {}}`, `{"$createObjectId": {}}`} {
		e, err := expr.Parse(value(t, expression), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Eval(&expr.Env{}); err == nil || showError(err)[:9] != "error 238" {
			t.Errorf("%s: got %v", expression, err)
		}
	}
}

func TestAnOperatorThatIsKnownButNotSupportedIsRefusedByName(t *testing.T) {
	for _, name := range expr.Unsupported() {
		_, err := expr.Parse(value(t, `{"`+name+`": {}}`), nil)
		if want := "error 238 mongotest: the expression " + name + " is not supported"; err == nil || showError(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestALoopWithoutEndIsEnded(t *testing.T) {
	nested := `{"$size": {"$range": [0, 100000]}}`
	for range 3 {
		nested = `{"$map": {"input": {"$range": [0, 100000]}, "in": ` + nested + `}}`
	}
	if got := evaluate(document(t, `{}`), value(t, nested)); got[:8] != "error 50" {
		t.Errorf("got %s", got)
	}
}

func TestAValueThatDoublesIsEnded(t *testing.T) {
	for _, double := range []string{`{"$concat": ["$$value", "$$value"]}`, `["$$value", "$$value"]`, `{"$concatArrays": [["$$value"], ["$$value"]]}`} {
		s := `{"$size": [[{"$reduce": {"input": {"$range": [0, 64]}, "initialValue": "x", "in": ` + double + `}}]]}`
		if got := evaluate(document(t, `{}`), value(t, s)); got[:11] != "error 10334" && got[:8] != "error 50" {
			t.Errorf("%s: got %.80s", double, got)
		}
	}
}
