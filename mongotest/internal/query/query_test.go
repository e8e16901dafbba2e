package query_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// doc returns a document written as extended JSON.
func doc(t testing.TB, text string) bson.Raw {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func value(t testing.TB, text string) query.Value {
	t.Helper()
	return query.Lookup(doc(t, fmt.Sprintf(`{"v": %s}`, text)), "v")
}

func TestOrderOfValues(t *testing.T) {
	groups := [][]string{ // ascending; those of a group are equal
		{`{"$minKey": 1}`},
		{`null`},
		{`{"$numberDouble": "NaN"}`, `{"$numberDecimal": "NaN"}`},
		{`{"$numberDouble": "-Infinity"}`, `{"$numberDecimal": "-Infinity"}`},
		{`-1`, `-1.0`},
		{`0`, `-0.0`, `{"$numberDecimal": "0E+3"}`},
		{`{"$numberDecimal": "0.1"}`},
		{`0.5`, `{"$numberDecimal": "0.50"}`},
		{`2`, `{"$numberLong": "2"}`, `2.0`, `{"$numberDecimal": "2.00"}`},
		{`{"$numberLong": "9007199254740993"}`},
		{`9007199254740994.0`, `{"$numberLong": "9007199254740994"}`},
		{`{"$numberLong": "9223372036854775807"}`},
		{`9223372036854775808.0`},
		{`{"$numberDouble": "Infinity"}`},
		{`""`},
		{`"A"`},
		{`"a"`, `{"$symbol": "a"}`},
		{`{}`},
		{`{"a": 1}`, `{"a": 1.0}`},
		{`{"b": 1}`},
		{`{"a": "x"}`},
		{`[]`},
		{`[1]`},
		{`[1, 2]`},
		{`{"$binary": {"base64": "AQ==", "subType": "00"}}`},
		{`{"$binary": {"base64": "AAAA", "subType": "00"}}`},
		{`{"$oid": "000000000000000000000001"}`},
		{`false`},
		{`true`},
		{`{"$date": {"$numberLong": "-1"}}`},
		{`{"$date": {"$numberLong": "1"}}`},
		{`{"$timestamp": {"t": 1, "i": 1}}`},
		{`{"$timestamp": {"t": 4294967295, "i": 1}}`},
		{`{"$regularExpression": {"pattern": "a", "options": ""}}`},
		{`{"$maxKey": 1}`},
	}
	for i, group := range groups {
		for k, other := range groups {
			for _, a := range group {
				for _, b := range other {
					check(t, value(t, a), value(t, b), a, b, sign(i-k))
				}
			}
		}
	}
}

func sign(n int) int { return min(1, max(-1, n)) }

func check(t *testing.T, a, b query.Value, as, bs string, want int) {
	t.Helper()
	if got := query.Compare(a, b); got != want {
		t.Errorf("%s to %s is %d, want %d", as, bs, got, want)
	}
	if same := slices.Equal(query.AppendKey(nil, a), query.AppendKey(nil, b)); same != (want == 0) {
		t.Errorf("the keys of %s and %s are the same: %t", as, bs, same)
	}
}

func TestFilters(t *testing.T) {
	for _, test := range []struct {
		filter  string
		matches []string
		not     []string
	}{
		{`{"a": 1}`, []string{`{"a": 1}`, `{"a": 1.0}`, `{"a": [3, 1]}`}, []string{`{}`, `{"a": "1"}`, `{"a": [[1]]}`}},
		{`{"a": null}`, []string{`{}`, `{"a": null}`, `{"a": [null]}`}, []string{`{"a": 1}`, `{"a": []}`}},
		{`{"a.b": 1}`, []string{`{"a": {"b": 1}}`, `{"a": [{"b": 1}]}`, `{"a": [2, {"b": [1]}]}`}, []string{`{"a": 1}`, `{"a": [[{"b": 1}]]}`}},
		{`{"a.1": 2}`, []string{`{"a": [1, 2]}`, `{"a": {"1": 2}}`, `{"a": [{"1": 2}]}`}, []string{`{"a": [2]}`}},
		{`{"a.x": null}`, []string{`{}`, `{"a": 1}`, `{"a": []}`, `{"a": [1]}`, `{"a": [{"x": 1}, {}]}`}, []string{`{"a": [{"x": 1}]}`}},
		{`{"a": {"$gt": 1, "$lt": 3}}`, []string{`{"a": 2}`, `{"a": [0, 9]}`}, []string{`{"a": "2"}`, `{"a": 3}`}},
		{`{"a": {"$gte": null}}`, []string{`{}`, `{"a": null}`}, []string{`{"a": 1}`}},
		{`{"a": {"$lt": {"$maxKey": 1}}}`, []string{`{}`, `{"a": "x"}`, `{"a": 1}`}, []string{`{"a": {"$maxKey": 1}}`}},
		{`{"a": {"$ne": 1}}`, []string{`{}`, `{"a": 2}`}, []string{`{"a": 1}`, `{"a": [1, 2]}`}},
		{`{"a": {"$in": [1, {"$regularExpression": {"pattern": "^x", "options": ""}}]}}`, []string{`{"a": 1}`, `{"a": "xy"}`}, []string{`{"a": "y"}`}},
		{`{"a": {"$nin": [1, null]}}`, []string{`{"a": 2}`}, []string{`{}`, `{"a": 1}`}},
		{`{"$or": [{"a": 1}, {"b": 2}]}`, []string{`{"a": 1}`, `{"b": 2}`}, []string{`{"a": 2}`}},
		{`{"$nor": [{"a": 1}, {"b": 2}]}`, []string{`{}`}, []string{`{"a": 1}`, `{"b": 2}`}},
		{`{"$and": [{"a": 1}, {"b": 2}]}`, []string{`{"a": 1, "b": 2}`}, []string{`{"a": 1}`}},
		{`{"a": {"$not": {"$gt": 1}}}`, []string{`{}`, `{"a": 1}`, `{"a": "x"}`}, []string{`{"a": 2}`}},
		{`{"a": {"$exists": true}}`, []string{`{"a": null}`}, []string{`{}`}},
		{`{"a": {"$exists": false}}`, []string{`{}`}, []string{`{"a": null}`}},
		{`{"a": {"$type": "number"}}`, []string{`{"a": 1}`, `{"a": 1.5}`, `{"a": ["x", 1]}`}, []string{`{"a": "x"}`, `{}`}},
		{`{"a": {"$type": ["array", 2]}}`, []string{`{"a": []}`, `{"a": "x"}`}, []string{`{"a": 1}`}},
		{`{"a": {"$size": 2}}`, []string{`{"a": [1, 2]}`}, []string{`{"a": [1]}`, `{"a": 2}`}},
		{`{"a": {"$all": [1, 2]}}`, []string{`{"a": [2, 1, 3]}`}, []string{`{"a": [1]}`, `{"a": 1}`}},
		{`{"a": {"$all": []}}`, nil, []string{`{}`, `{"a": []}`}},
		{`{"a": {"$elemMatch": {"$gt": 1, "$lt": 3}}}`, []string{`{"a": [0, 2]}`}, []string{`{"a": [0, 9]}`, `{"a": 2}`}},
		{`{"a": {"$elemMatch": {"b": 1, "c": 2}}}`, []string{`{"a": [{"b": 1, "c": 2}]}`}, []string{`{"a": [{"b": 1}, {"c": 2}]}`}},
		{`{"a": {"$mod": [4, 1]}}`, []string{`{"a": 5}`, `{"a": 5.5}`}, []string{`{"a": 4}`, `{"a": "5"}`}},
		{`{"a": {"$regex": "b", "$options": "i"}}`, []string{`{"a": "ABC"}`}, []string{`{"a": "x"}`, `{"a": 1}`}},
		{`{"_id": 1}`, []string{`{"_id": 1}`, `{"_id": 1.0}`}, []string{`{"_id": 2}`, `{}`}},
		{`{"$comment": "x", "a": 1}`, []string{`{"a": 1}`}, []string{`{}`}},
	} {
		f, err := query.ParseFilter(doc(t, test.filter))
		if err != nil {
			t.Errorf("%s: %v", test.filter, err)
			continue
		}
		for _, text := range test.matches {
			if !f.Match(doc(t, text)) {
				t.Errorf("%s does not match %s", test.filter, text)
			}
		}
		for _, text := range test.not {
			if f.Match(doc(t, text)) {
				t.Errorf("%s matches %s", test.filter, text)
			}
		}
	}
}

func TestUpdates(t *testing.T) {
	for _, test := range []struct{ before, update, after string }{
		{`{"_id": 1, "n": 1}`, `{"$inc": {"n": 2147483647}}`, `{"_id": 1, "n": {"$numberLong": "2147483648"}}`},
		{`{"n": 1}`, `{"$inc": {"n": 0.5}}`, `{"n": 1.5}`},
		{`{"n": 3}`, `{"$mul": {"n": {"$numberLong": "2"}, "m": 5}}`, `{"n": {"$numberLong": "6"}, "m": 0}`},
		{`{"a": 1}`, `{"$set": {"z": 1, "b.c": 2, "a": 3}}`, `{"a": 3, "b": {"c": 2}, "z": 1}`},
		{`{"a": {"b": 1, "c": 2}}`, `{"$unset": {"a.b": "", "x.y": ""}}`, `{"a": {"c": 2}}`},
		{`{"a": [1]}`, `{"$set": {"a.3": 4}}`, `{"a": [1, null, null, 4]}`},
		{`{"a": [1, 2]}`, `{"$unset": {"a.0": ""}}`, `{"a": [null, 2]}`},
		{`{"a": 5}`, `{"$min": {"a": 3, "b": 1}}`, `{"a": 3, "b": 1}`},
		{`{"a": 5}`, `{"$max": {"a": "x"}}`, `{"a": "x"}`},
		{`{}`, `{"$push": {"a": 1}}`, `{"a": [1]}`},
		{`{"a": [3, 1]}`, `{"$push": {"a": {"$each": [2], "$sort": 1, "$slice": -2}}}`, `{"a": [2, 3]}`},
		{`{"a": [1, 2]}`, `{"$push": {"a": {"$each": [8, 9], "$position": 1}}}`, `{"a": [1, 8, 9, 2]}`},
		{`{"a": [1, 2]}`, `{"$addToSet": {"a": {"$each": [2.0, 3, 3]}}}`, `{"a": [1, 2, 3]}`},
		{`{"a": [1, 5, 9]}`, `{"$pull": {"a": {"$gt": 4}}}`, `{"a": [1]}`},
		{`{"a": [{"b": 1, "c": 1}, {"b": 2}]}`, `{"$pull": {"a": {"b": 1}}}`, `{"a": [{"b": 2}]}`},
		{`{"a": [1, 2, 1]}`, `{"$pullAll": {"a": [1]}}`, `{"a": [2]}`},
		{`{"a": [1, 2]}`, `{"$pop": {"a": -1}}`, `{"a": [2]}`},
		{`{"a": 1, "b": 2}`, `{"$rename": {"a": "c.d"}}`, `{"b": 2, "c": {"d": 1}}`},
		{`{"a": 1}`, `{"$setOnInsert": {"b": 1}}`, `{"a": 1}`},
		{`{"_id": 1, "a": 1}`, `{"b": 2}`, `{"_id": 1, "b": 2}`},
	} {
		u, err := query.ParseUpdate(value(t, test.update), query.Value{}, query.Hooks{})
		if err != nil {
			t.Errorf("%s: %v", test.update, err)
			continue
		}
		got, err := u.Apply(doc(t, test.before), query.Env{})
		if want := doc(t, test.after); err != nil || bson.Raw(got).String() != want.String() {
			t.Errorf("%s on %s gives %v, %v, want %v", test.update, test.before, bson.Raw(got), err, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		doc, update string
		code        int32
	}{
		{`{}`, `{"$frob": {"a": 1}}`, 9},
		{`{}`, `{"$set": 1}`, 9},
		{`{}`, `{"$set": {"": 1}}`, 56},
		{`{}`, `{"$set": {"a..b": 1}}`, 56},
		{`{}`, `{"$set": {"a": 1, "a.b": 1}}`, 40},
		{`{}`, `{"$set": {"a.$[]": 1}}`, 2},
		{`{}`, `{"$inc": {"a": "x"}}`, 14},
		{`{"a": "x"}`, `{"$inc": {"a": 1}}`, 14},
		{`{"a": {"$numberLong": "9223372036854775807"}}`, `{"$inc": {"a": 1}}`, 2},
		{`{"a": 1}`, `{"$push": {"a": 1}}`, 2},
		{`{"a": 1}`, `{"$set": {"a.b": 1}}`, 28},
		{`{"_id": 1}`, `{"$set": {"_id": 2}}`, 66},
		{`{"_id": 1}`, `{"_id": 2}`, 66},
		{`{"a": [1]}`, `{"$rename": {"a.0": "b"}}`, 2},
		{`{}`, `{"$pop": {"a": 2}}`, 9},
		{`{"a": "x"}`, `{"$bit": {"a": {"and": 1}}}`, 2},
	} {
		u, err := query.ParseUpdate(value(t, test.update), query.Value{}, query.Hooks{})
		if err == nil {
			_, err = u.Apply(doc(t, test.doc), query.Env{})
		}
		refused, ok := err.(*mongoerr.Error) //nolint:errorlint // it is the package's promise that it is not wrapped
		if !ok || refused.Code != test.code {
			t.Errorf("%s on %s: %v, want code %d", test.update, test.doc, err, test.code)
		}
	}
}

func TestUpsertTakesTheFiltersEqualities(t *testing.T) {
	for _, test := range []struct{ filter, update, want string }{
		{`{"_id": 1}`, `{"$set": {"a": 1}}`, `{"_id": 1, "a": 1}`},
		{`{"a.b": 1, "c": {"$gt": 1}, "_id": 2}`, `{"$inc": {"n": 1}}`, `{"_id": 2, "a": {"b": 1}, "n": 1}`},
		{`{"$and": [{"a": 1}, {"b": {"$eq": 2}}]}`, `{"$setOnInsert": {"c": 3}}`, `{"a": 1, "b": 2, "c": 3}`},
		{`{"_id": 1, "a": 1}`, `{"b": 2}`, `{"_id": 1, "b": 2}`},
	} {
		f, err := query.ParseFilter(doc(t, test.filter))
		if err != nil {
			t.Fatal(err)
		}
		u, err := query.ParseUpdate(value(t, test.update), query.Value{}, query.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := u.Upsert(f, query.Env{})
		if want := doc(t, test.want); err != nil || bson.Raw(got).String() != want.String() {
			t.Errorf("%s, %s gives %v, %v, want %v", test.filter, test.update, bson.Raw(got), err, want)
		}
	}
}

func TestIntegers(t *testing.T) {
	for text, want := range map[string]int64{`5`: 5, `5.0`: 5, `{"$numberDecimal": "5.0"}`: 5, `5.5`: math.MinInt64, `"5"`: math.MinInt64} {
		if n, ok := value(t, text).Integer(); ok != (want != math.MinInt64) || ok && n != want {
			t.Errorf("%s is the integer %d, %t", text, n, ok)
		}
	}
}

func TestManyValuesOfAllAreFoundAsFewAre(t *testing.T) {
	d := doc(t, `{"a": [0, 1, 2, 3, 4, 5, 6, 7, 8, [9, 10], {"b": 11}], "c": [{"d": [0, 1]}, {"d": [2, 3, 4, 5, 6, 7, 8]}]}`)
	for filter, want := range map[string]bool{
		`{"a": {"$all": [8, 7, 6, 5, 4, 3, 2, 1, 0, [9, 10], {"b": 11}]}}`: true,
		`{"a": {"$all": [8, 7, 6, 5, 4, 3, 2, 1, 0, 9]}}`:                  false,
		`{"a": {"$all": [8, 7, 6, 5, 4, 3, 2, 1, 0, null]}}`:               false,
		`{"c.d": {"$all": [8, 7, 6, 5, 4, 3, 2, 1, 0, [0, 1]]}}`:           true,
		`{"c.d": {"$all": [8, 7, 6, 5, 4, 3, 2, 1, 0, 9]}}`:                false,
		`{"a": {"$in": [90, 91, 92, 93, 94, 95, 96, 97, 98, 8]}}`:          true,
		`{"a": {"$in": [90, 91, 92, 93, 94, 95, 96, 97, 98, null]}}`:       false,
		`{"x": {"$in": [90, 91, 92, 93, 94, 95, 96, 97, 98, null]}}`:       true,
		`{"a": {"$nin": [90, 91, 92, 93, 94, 95, 96, 97, 98, 99]}}`:        true,
	} {
		f, err := query.ParseFilter(doc(t, filter))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Match(d); got != want {
			t.Errorf("%s: %t", filter, got)
		}
	}
}
