package expr_test

import (
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// group are the documents that the accumulators' cases are evaluated for.
var group = []string{
	`{"_id": 1, "a": 3, "b": 1, "l": [1, 2], "o": {"x": 1}, "f": 0.1, "one": 1}`,
	`{"_id": 2, "a": 1, "b": 2, "l": [2, 3], "o": {"x": 2, "y": 1}, "f": 0.2}`,
	`{"_id": 3, "a": 2, "o": null, "f": {"$numberDecimal": "0.3"}}`,
	`{"_id": 4, "a": "s", "f": 1}`,
	`{"_id": 5, "b": 1}`,
	`{"_id": 6, "a": null}`,
}

const accumulatorCases = "testdata/accumulators.txt"

// fractionalCount is the one difference: the engine refuses such a count of $firstN, but cuts it for $topN.
const fractionalCount = `{"$topN":{"sortBy":{"a":1},"output":"$a","n":1.5}}`

func documents(t *testing.T) []bson.Raw {
	t.Helper()
	docs := make([]bson.Raw, len(group))
	for i, s := range group {
		docs[i] = document(t, s)
	}
	return docs
}

// accumulate returns what this package makes of an accumulator for the documents.
func accumulate(docs []bson.Raw, accumulator query.Value) string {
	elements, err := bson.Raw(accumulator.Data).Elements()
	if err != nil {
		return err.Error()
	}
	v := elements[0].Value()
	compiled, err := expr.ParseAccumulator(elements[0].Key(), query.Value{Type: v.Type, Data: v.Value}, nil)
	if err != nil {
		return showError(err)
	}
	state := compiled.New()
	for _, doc := range docs {
		if err := state.Add(environment(doc)); err != nil {
			return showError(err)
		}
	}
	return show(state.Result())
}

// inOrder sorts the elements of a set, which the engine gives in no order.
func inOrder(accumulator, result string) string {
	if !strings.Contains(accumulator, "$addToSet") && !strings.Contains(accumulator, "$setUnion") || !strings.HasPrefix(result, "[") {
		return result
	}
	elements := strings.Split(strings.Trim(result, "[]"), ",")
	slices.Sort(elements)
	return "[" + strings.Join(elements, ",") + "]"
}

func TestAccumulatorsGiveWhatWasRecorded(t *testing.T) {
	docs := documents(t)
	for _, c := range readCases(t, accumulatorCases) {
		if c.expression == fractionalCount {
			c.want = "error 5787903 Value for 'n' must be of integral type, but found 1.5"
		}
		if got := inOrder(c.expression, accumulate(docs, value(t, c.expression))); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.expression, got, c.want)
		}
	}
}

func TestTheEngineAccumulatesWhatWasRecorded(t *testing.T) {
	e := newEngine(t)
	e.insert(documents(t)...)
	cases := readCases(t, accumulatorCases)
	for i, c := range cases {
		stage := bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: nil}, {Key: "r", Value: raw(value(t, c.expression))}}}}
		got := inOrder(c.expression, e.aggregate(stage))
		if *record {
			cases[i].want = got
		} else if got != c.want {
			t.Errorf("%s\nrecorded %s\nnow      %s", c.expression, c.want, got)
		}
	}
	if *record {
		writeCases(t, accumulatorCases, cases)
	}
}

func TestEveryAccumulatorHasThreeCasesOfWhichOneSucceeds(t *testing.T) {
	all, fine := make(map[string]int), make(map[string]int)
	for _, c := range readCases(t, accumulatorCases) {
		name, _, _ := strings.Cut(strings.TrimPrefix(c.expression, `{"`), `"`)
		all[name]++
		if !strings.HasPrefix(c.want, "error") {
			fine[name]++
		}
	}
	for _, name := range expr.Accumulators() {
		if all[name] < 3 || fine[name] < 1 {
			t.Errorf("%s has %d cases, %d of them succeed", name, all[name], fine[name])
		}
	}
}
