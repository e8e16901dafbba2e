package expr_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// standard is the document that expressions are evaluated for.
const standard = `{
	"_id": 1, "i": 5, "l": {"$numberLong": "7"}, "f": 2.5, "d": {"$numberDecimal": "1.50"}, "s": "abc", "a": [1, 2, 3],
	"o": {"x": 1, "y": {"z": 2}}, "n": null, "t": {"$date": "2024-02-29T13:14:15.678Z"}, "b": true,
	"oa": [{"x": 1}, {"x": 2}, {"y": 3}], "bin": {"$binary": {"base64": "AQI=", "subType": "00"}},
	"ts": {"$timestamp": {"t": 1700000000, "i": 3}}, "oid": {"$oid": "507f1f77bcf86cd799439011"},
	"re": {"$regularExpression": {"pattern": "a", "options": "i"}}
}`

// FuzzExpression gives any BSON as an expression and a document: Parse and Eval end, do not panic, and fail with a code.
func FuzzExpression(f *testing.F) {
	doc := document(f, standard)
	for _, s := range []string{
		`{"$add": ["$i", 1]}`, `{"$map": {"input": "$a", "in": {"$multiply": ["$$this", "$d"]}}}`,
		`{"$dateToString": {"date": "$t", "format": "%Y-%m-%d", "timezone": "Europe/Berlin"}}`,
		`{"$reduce": {"input": "$a", "initialValue": "", "in": {"$concat": ["$$value", {"$toString": "$$this"}]}}}`,
		`{"$switch": {"branches": [{"case": {"$lt": ["$i", 0]}, "then": 1}], "default": {"$round": ["$f", 1]}}}`,
	} {
		f.Add([]byte(document(f, `{"r": `+s+`}`)), []byte(doc))
	}
	f.Fuzz(func(t *testing.T, spec, doc []byte) {
		if bson.Raw(spec).Validate() != nil || bson.Raw(doc).Validate() != nil {
			t.Skip("not BSON")
		}
		v := query.Lookup(spec, "r")
		if v.Missing() {
			t.Skip("no value")
		}
		e, err := expr.Parse(v, nil)
		if err == nil {
			_, err = e.Eval(environment(doc))
		}
		var refused *mongoerr.Error
		if err != nil && (!errors.As(err, &refused) || refused.Code == 0 || refused.Message == "") {
			t.Errorf("%v is no refusal with a code", err)
		}
		for _, name := range expr.Accumulators() {
			if a, err := expr.ParseAccumulator(name, v, nil); err == nil {
				if state, err := a.New(&expr.Env{}); err == nil {
					_ = state.Add(environment(doc))
					_, _ = state.Result(nil)
				}
			}
		}
	})
}
