package unified

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// valueOf reads the value of v in {v: text}; the empty text is no value.
func valueOf(t *testing.T, text string) bson.RawValue {
	t.Helper()
	if text == "" {
		return bson.RawValue{}
	}
	var doc bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(`{"v": `+text+`}`), false, &doc); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return doc.Lookup("v")
}

// The cases are named after the sentences of the format's "Evaluating Matches".
func TestMatch(t *testing.T) {
	es := newEntities()
	if err := es.add("id", valueOf(t, `{"a": 1}`)); err != nil {
		t.Fatal(err)
	}
	if err := es.add("client", &clientEntity{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, expected, actual string
		root, match            bool
	}{
		{"numbers are equal if their values are", `1`, `{"$numberDouble": "1.0"}`, false, true},
		{"numbers are equal if their values are (long)", `1`, `{"$numberLong": "1"}`, false, true},
		{"1 does not match 1.5", `1`, `1.5`, false, false},
		{"large integers are not compared as floats", `{"$numberLong": "9007199254740993"}`, `{"$numberLong": "9007199254740992"}`, false, false},
		{"Decimal128 is no flexible number", `1`, `{"$numberDecimal": "1"}`, false, false},
		{"a number is no string", `1`, `"1"`, false, false},
		{"null is not the absence of a value", `null`, ``, false, false},
		{"null matches null", `null`, `null`, false, true},
		{"a root-level document may have additional fields", `{"x": 1}`, `{"x": 1, "y": 1}`, true, true},
		{"a document that is not at the root may not", `{"x": 1}`, `{"x": 1, "y": 1}`, false, false},
		{"additional fields in nested documents are not permitted", `{"x": {"y": 1}}`, `{"x": {"y": 1, "z": 1}}`, true, false},
		{"the inverse is not true", `{"x": 1, "y": 1}`, `{"x": 1}`, true, false},
		{"keys may be in any order", `{"x": 1, "y": 2}`, `{"y": 2, "x": 1}`, false, true},
		{"arrays have the same number of elements", `[1, 2]`, `[1, 2, 3]`, false, false},
		{"array elements are not root-level documents", `[{"x": 1}]`, `[{"x": 1, "y": 1}]`, true, false},
		{"array elements are in order", `[1, 2]`, `[2, 1]`, false, false},
		{"a document does not match a scalar", `{"x": 1}`, `1`, true, false},
		{"an array does not match a document", `[1]`, `{"0": 1}`, true, false},
		{"a query operator is an ordinary key", `{"$gt": 1}`, `{"$gt": 1}`, false, true},

		{"$$exists true, whatever the value", `{"x": {"$$exists": true}}`, `{"x": null}`, false, true},
		{"$$exists true without the key", `{"x": {"$$exists": true}}`, `{}`, false, false},
		{"$$exists false without the key", `{"x": {"$$exists": false}}`, `{}`, false, true},
		{"$$exists false with a null", `{"x": {"$$exists": false}}`, `{"x": null}`, false, false},
		{"$$exists with something else", `{"x": {"$$exists": 1}}`, `{"x": null}`, false, false},

		{"$$type of one", `{"$$type": "string"}`, `"a"`, false, true},
		{"$$type of several", `{"$$type": ["int", "long"]}`, `{"$numberLong": "1"}`, false, true},
		{"$$type of none of several", `{"$$type": ["int", "long"]}`, `1.5`, false, false},
		{"$$type number", `{"$$type": "number"}`, `{"$numberDecimal": "1"}`, false, true},
		{"$$type of an array does not look at its elements", `{"$$type": "int"}`, `[1]`, false, false},
		{"$$type needs a value", `{"x": {"$$type": "int"}}`, `{}`, false, false},
		{"$$type of a name that is none", `{"$$type": "integer"}`, `1`, false, false},
		{"$$type bool", `{"$$type": "bool"}`, `true`, false, true},
		{"$$type objectId", `{"$$type": "objectId"}`, `{"$oid": "57e193d7a9cc81b4027498b5"}`, false, true},
		{"$$type date", `{"$$type": "date"}`, `{"$date": "1970-01-01T00:00:00Z"}`, false, true},
		{"$$type binData", `{"$$type": "binData"}`, `{"$binary": {"base64": "", "subType": "00"}}`, false, true},
		{"$$type timestamp", `{"$$type": "timestamp"}`, `{"$timestamp": {"t": 1, "i": 1}}`, false, true},
		{"$$type object", `{"$$type": "object"}`, `{}`, false, true},

		{"$$matchesEntity", `{"$$matchesEntity": "id"}`, `{"a": 1.0}`, false, true},
		{"$$matchesEntity of another value", `{"$$matchesEntity": "id"}`, `{"a": 2}`, false, false},
		{"$$matchesEntity does not make a root", `{"$$matchesEntity": "id"}`, `{"a": 1, "b": 1}`, false, false},
		{"$$matchesEntity leaves a root one", `{"$$matchesEntity": "id"}`, `{"a": 1, "b": 1}`, true, true},
		{"$$matchesEntity of an entity that there is not", `{"$$matchesEntity": "none"}`, `{"a": 1}`, false, false},
		{"$$matchesEntity of a mistyped entity", `{"$$matchesEntity": "client"}`, `{"a": 1}`, false, false},
		{"$$sessionLsid of an entity that there is not", `{"$$sessionLsid": "none"}`, `{"id": 1}`, false, false},
		{"$$sessionLsid of a mistyped entity", `{"$$sessionLsid": "id"}`, `{"a": 1}`, false, false},

		{"$$matchesHexBytes", `{"$$matchesHexBytes": "4142"}`, `"AB"`, false, true},
		{"$$matchesHexBytes is case-insensitive", `{"$$matchesHexBytes": "4a"}`, `"J"`, false, true},
		{"$$matchesHexBytes may be empty", `{"$$matchesHexBytes": ""}`, `""`, false, true},
		{"$$matchesHexBytes of other bytes", `{"$$matchesHexBytes": "4142"}`, `"AC"`, false, false},
		{"$$matchesHexBytes of an odd number of digits", `{"$$matchesHexBytes": "414"}`, `"A"`, false, false},

		{"$$unsetOrMatches without a value", `{"x": {"$$unsetOrMatches": 1}}`, `{}`, false, true},
		{"$$unsetOrMatches with a value", `{"x": {"$$unsetOrMatches": 1}}`, `{"x": 1}`, false, true},
		{"$$unsetOrMatches with another value", `{"x": {"$$unsetOrMatches": 1}}`, `{"x": 2}`, false, false},
		{"$$unsetOrMatches may contain operators", `{"$$unsetOrMatches": {"x": {"$$exists": false}}}`, `{"y": 1}`, true, true},
		{"$$unsetOrMatches of a root is a root", `{"$$unsetOrMatches": {"x": 1}}`, `{"x": 1, "y": 1}`, true, true},
		{"$$unsetOrMatches of what is nested is not", `{"a": {"$$unsetOrMatches": {"x": 1}}}`, `{"a": {"x": 1, "y": 1}}`, true, false},

		{"$$lte of an equal number", `{"$$lte": 1}`, `1.0`, false, true},
		{"$$lte of a smaller number", `{"$$lte": 1}`, `0`, false, true},
		{"$$lte of a larger number", `{"$$lte": 1}`, `1.1`, false, false},
		{"$$lte of a string", `{"$$lte": 1}`, `"0"`, false, false},

		{"$$matchAsDocument", `{"$$matchAsDocument": {"x": 1, "y": {"$$type": "objectId"}}}`, `"{\"x\": 1.0, \"y\": {\"$oid\": \"57e193d7a9cc81b4027498b5\"}}"`, false, true},
		{"$$matchAsDocument does not permit additional fields", `{"$$matchAsDocument": {"x": 1}}`, `"{\"x\": 1, \"y\": 1}"`, true, false},
		{"$$matchAsDocument of no extended JSON", `{"$$matchAsDocument": {"x": 1}}`, `"x"`, false, false},
		{"$$matchAsRoot may change that", `{"$$matchAsDocument": {"$$matchAsRoot": {"x": 1}}}`, `"{\"x\": 1, \"y\": 1}"`, false, true},
		{"$$matchAsRoot in a nested document", `{"a": {"$$matchAsRoot": {"x": 1}}}`, `{"a": {"x": 1, "y": 1}}`, false, true},
		{"$$matchAsRoot of something else", `{"a": {"$$matchAsRoot": 1}}`, `{"a": 1}`, false, false},

		{"an operator that there is not", `{"$$almost": 1}`, `1`, false, false},
	} {
		m := matcher{es}
		if err := m.match(valueOf(t, c.expected), valueOf(t, c.actual), c.root); (err == nil) != c.match {
			t.Errorf("%s: %s against %s: %v", c.name, c.expected, c.actual, err)
		}
	}
}

func TestAMismatchSaysWhere(t *testing.T) {
	err := (&matcher{}).match(valueOf(t, `{"a": [{"b": 1}]}`), valueOf(t, `{"a": [{"b": 2}]}`), true)
	if err == nil || !strings.HasPrefix(err.Error(), "a: 0: b: want ") {
		t.Errorf("the mismatch is described as %v", err)
	}
}

func TestOutcomeIsComparedExactlyButForTheOrderOfKeys(t *testing.T) {
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{`{"a": 1, "b": {"c": [1, {"d": 1, "e": 2}]}}`, `{"b": {"c": [1, {"e": 2, "d": 1}]}, "a": 1}`, true},
		{`{"a": 1}`, `{"a": 1.0}`, false},
		{`{"a": {"$numberLong": "0"}}`, `{"a": 0.0}`, false},
		{`{"a": 1}`, `{"a": 1, "b": 1}`, false},
		{`{"a": [1, 2]}`, `{"a": [2, 1]}`, false},
		{`{"a": {"$$exists": true}}`, `{"a": 1}`, false},
	} {
		if same := sameDocument(valueOf(t, c.want).Document(), valueOf(t, c.got).Document()); same != c.same {
			t.Errorf("%s and %s: same is %t", c.want, c.got, same)
		}
	}
}
