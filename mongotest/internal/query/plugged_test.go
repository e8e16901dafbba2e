package query_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// errExpr is what the expressions of these tests fail with.
var errExpr = errors.New("the expression failed")

// failing are hooks whose expressions and pipelines fail when they are evaluated.
var failing = query.Hooks{
	Expr: func(query.Value, query.Collation) (query.Expr, error) {
		return func([]byte, any) (query.Value, error) { return query.Value{}, errExpr }, nil
	},
	Pipeline: func(query.Value, query.Collation) (query.Pipeline, error) {
		return func([]byte, any) ([]byte, error) { return nil, errExpr }, nil
	},
}

// seeing are hooks whose expressions and pipelines return the variables that they are given, an int32.
var seeing = query.Hooks{
	Expr: func(query.Value, query.Collation) (query.Expr, error) {
		return func(_ []byte, vars any) (query.Value, error) { return query.Int32(vars.(int32)), nil }, nil
	},
	Pipeline: func(query.Value, query.Collation) (query.Pipeline, error) {
		return func(_ []byte, vars any) ([]byte, error) { return bson.Marshal(bson.D{{Key: "v", Value: vars}}) }, nil
	},
}

func TestWithoutHooksExpressionsAreRefusedByName(t *testing.T) {
	_, filter := query.ParseFilter(doc(t, `{"$expr": true}`))
	_, update := query.ParseUpdate(value(t, `[{"$set": {"a": 1}}]`), query.Value{}, query.Hooks{})
	_, projection := query.ParseProjection(doc(t, `{"a": "$b"}`), nil, query.Hooks{})
	_, positional := query.ParseProjection(doc(t, `{"a.$": 1}`), nil, query.Hooks{})
	for what, err := range map[string]error{"$expr": filter, "a pipeline": update, "a projection": projection, "a.$": positional} {
		var refused *mongoerr.Error
		if !errors.As(err, &refused) || refused.Code != mongoerr.NotImplemented {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAnExpressionsFailureFailsTheMatch(t *testing.T) {
	for _, text := range []string{
		`{"$expr": 1}`, `{"$nor": [{"$expr": 1}]}`, `{"$or": [{"$expr": 1}, {"a": 2}]}`, `{"$nor": [{"$nor": [{"$expr": 1}]}]}`,
	} {
		var f query.Filter
		if err := f.ParseWith(doc(t, text), failing); err != nil {
			t.Fatal(err)
		}
		var m query.Matching
		if ok, err := f.MatchWith(doc(t, `{"a": 1}`), &m); ok || !errors.Is(err, errExpr) {
			t.Errorf("%s: %t, %v", text, ok, err)
		}
	}
}

func TestAFailureIsForgottenWithTheNextDocument(t *testing.T) {
	var f query.Filter
	if err := f.ParseWith(doc(t, `{"a": 1, "$expr": 1}`), failing); err != nil {
		t.Fatal(err)
	}
	var m query.Matching
	if _, err := f.MatchWith(doc(t, `{"a": 1}`), &m); err == nil {
		t.Fatal("no error")
	}
	if ok, err := f.MatchWith(doc(t, `{"a": 2}`), &m); ok || err != nil {
		t.Errorf("%t, %v", ok, err)
	}
}

func TestVariablesReachTheExpression(t *testing.T) {
	var f query.Filter
	if err := f.ParseWith(doc(t, `{"$expr": 1}`), seeing); err != nil {
		t.Fatal(err)
	}
	for vars, want := range map[int32]bool{0: false, 7: true} {
		m := query.Matching{Vars: vars}
		if ok, err := f.MatchWith(doc(t, `{}`), &m); ok != want || err != nil {
			t.Errorf("%d: %t, %v", vars, ok, err)
		}
	}
	p, err := query.ParseProjection(doc(t, `{"_id": 0, "a": "$b"}`), nil, seeing)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.AppendWith(nil, doc(t, `{"_id": 1}`), int32(5)); err != nil || bson.Raw(out).String() != doc(t, `{"a": 5}`).String() {
		t.Errorf("%v, %v", bson.Raw(out), err)
	}
	u, err := query.ParseUpdate(value(t, `[]`), query.Value{}, seeing)
	if err != nil {
		t.Fatal(err)
	}
	out, err := u.Apply(doc(t, `{"_id": 1}`), query.Env{Match: &query.Matching{Vars: int32(5)}})
	if err != nil || bson.Raw(out).String() != doc(t, `{"_id": 1, "v": 5}`).String() {
		t.Errorf("%v, %v", bson.Raw(out), err)
	}
}

func TestAProjectionIsWrittenBehindWhatIsThere(t *testing.T) {
	p, err := query.ParseProjection(doc(t, `{"_id": 0, "a": 1}`), nil, query.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	from := doc(t, `{"_id": 1, "a": 2, "b": 3}`)
	want := "before" + "\x03key\x00" + string(doc(t, `{"a": 2}`))
	if got := p.AppendElement([]byte("before"), "key", from); string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, err := p.AppendElementWith([]byte("before"), "key", from, nil); err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

func TestAFailureOfAComputedFieldOrPipelineIsReturned(t *testing.T) {
	p, err := query.ParseProjection(doc(t, `{"a.b": "$b"}`), nil, failing)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.AppendWith(nil, doc(t, `{"a": [{}]}`), nil); !errors.Is(err, errExpr) {
		t.Errorf("the projection: %v", err)
	}
	u, err := query.ParseUpdate(value(t, `[]`), query.Value{}, failing)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Apply(doc(t, `{"_id": 1}`), query.Env{}); !errors.Is(err, errExpr) {
		t.Errorf("the update: %v", err)
	}
}

func TestWhatCountsAsTrue(t *testing.T) {
	for text, want := range map[string]bool{
		`null`: false, `false`: false, `0`: false, `0.0`: false, `{"$numberLong": "0"}`: false, `{"$numberDecimal": "0.00"}`: false,
		`true`: true, `1`: true, `-0.5`: true, `{"$numberDecimal": "0.1"}`: true, `{"$numberDouble": "NaN"}`: true, `""`: true,
		`[]`: true, `{}`: true,
	} {
		if query.Truth(value(t, text)) != want {
			t.Errorf("%s counts as %t", text, !want)
		}
	}
	if query.Truth(query.Value{}) {
		t.Error("what is missing counts as true")
	}
}

func TestAMatchingTellsTheElement(t *testing.T) {
	for _, test := range []struct {
		filter string
		want   int // -1 for none
	}{
		{`{"a": 6}`, 1},
		{`{"a": {"$elemMatch": {"$gt": 6}}}`, 2},
		{`{"l.x": 3}`, 1},
		{`{"_id": 1}`, -1},
		{`{"a": [5, 6, 7]}`, -1},
		{`{"$or": [{"a": 6}, {"b": 1}]}`, -1},
		{`{"a": 5, "$nor": [{"a": 9}]}`, 0},
	} {
		f, err := query.ParseFilter(doc(t, test.filter))
		if err != nil {
			t.Fatal(err)
		}
		var m query.Matching
		ok, err := f.MatchWith(doc(t, `{"_id": 1, "a": [5, 6, 7], "l": [{"x": 1}, {"x": [2, 3]}]}`), &m)
		if !ok || err != nil {
			t.Errorf("%s: %t, %v", test.filter, ok, err)
		}
		if n, found := m.Element(); found != (test.want >= 0) || found && n != test.want {
			t.Errorf("%s was met by the element %d, %t, want %d", test.filter, n, found, test.want)
		}
	}
}
