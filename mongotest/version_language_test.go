package mongotest_test

import (
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/convert/
func TestTheLanguageOfOlderServers(t *testing.T) {
	computing := func(expression string) string {
		return `{"aggregate": 1, "pipeline": [{"$documents": [{"o": {"a": 1}, "l": [1], "b": {"$binary": {"base64": "AAEC", "subType": "00"}}}]}, {"$project": {"r": ` + expression +
			`}}], "cursor": {}, "$db": "db"}`
	}
	const unsupported = "Unsupported conversion from %s in $convert with no onError value"
	from := func(types string) string { return strings.Replace(unsupported, "%s", types, 1) }
	for _, test := range []struct{ name, command, v7, v8, v9 string }{ // what the replies have
		{"an object as text", computing(`{"$toString": "$o"}`), from("object to string"), from("object to string"), `"r": "{\"a\":1}"`},
		{"an array as text", computing(`{"$convert": {"input": "$l", "to": "string"}}`), from("array to string"), from("array to string"), `"r": "[1]"`},
		{"an object in a variable", computing(`{"$let": {"vars": {"v": "$o"}, "in": {"$toString": "$$v"}}}`), from("object to string"), from("object to string"), `"r": "{\"a\":1}"`},
		{"onError", computing(`{"$convert": {"input": "$o", "to": "string", "onError": "no"}}`), `"r": "no"`, `"r": "no"`, `"r": "{\"a\":1}"`},
		{"an object as a boolean", computing(`{"$toBool": "$o"}`), `"r": true`, `"r": true`, `"r": true`},
		{"format", computing(`{"$convert": {"input": "$b", "to": "string", "format": "hex"}}`), "$convert found an unknown argument: format", `"r": "000102"`, `"r": "000102"`},
		{"base", computing(`{"$convert": {"input": "11", "to": "int", "base": 2}}`), "$convert found an unknown argument: base", "$convert found an unknown argument: base", `"r": {"$numberInt":"3"}`},
		{"binary data as text", computing(`{"$toString": "$b"}`), from("binData to string"), `"r": "AAEC"`, `"r": "AAEC"`},
		{"$toUUID", computing(`{"$toUUID": "123e4567-e89b-12d3-a456-426614174000"}`), "Unknown expression $toUUID", `"subType":"04"`, `"subType":"04"`},
		{"a subtype", computing(`{"$convert": {"input": "AAEC", "to": {"type": "binData"}, "format": "base64"}}`), "unknown argument: format", `"base64":"AAEC"`, `"base64":"AAEC"`},
		{"the type as an object", computing(`{"$convert": {"input": 1, "to": {"type": "string"}}}`), "$convert's 'to' argument must be a string or number, but is object", `"r": "1"`, `"r": "1"`},
		{"a filter", `{"find": "c", "filter": {"$expr": {"$eq": [{"$toString": "$o"}, "x"]}}, "$db": "db"}`, from("object to string"), from("object to string"), `"firstBatch": []`},
		{"an update", `{"update": "c", "updates": [{"q": {}, "u": [{"$set": {"s": {"$toString": "$o"}}}]}], "$db": "db"}`, from("object to string"), from("object to string"), `"nModified": {"$numberInt":"1"}`},
		{"a group's field without a name", `{"aggregate": "c", "pipeline": [{"$group": {"_id": null, "": {"$sum": 1}}}, {"$project": {"n": {"$size": {"$objectToArray": "$$ROOT"}}}}], "cursor": {}, "$db": "db"}`, `{"_id": null,"n": {"$numberInt":"2"}}`, `{"_id": null,"n": {"$numberInt":"2"}}`, "The field name '' cannot be an empty string"},
		{"killOp without an id", `{"killOp": 1, "$db": "admin"}`, `"codeName": "NoSuchKey"`, `"codeName": "NoSuchKey"`, `"code": {"$numberInt":"12212701"}`},
		{"killOp with a text", `{"killOp": 1, "op": "x", "$db": "admin"}`, `to have numeric type, but found string`, `to have numeric type, but found string`, `"code": {"$numberInt":"12212701"}`},
		{"killOp with several ids", `{"killOp": 1, "op": [1, 2], "$db": "admin"}`, `"codeName": "TypeMismatch"`, `"codeName": "TypeMismatch"`, `"info": "attempting to kill op"`},
		{"killOp with a large id", `{"killOp": 1, "op": {"$numberLong": "9999999999"}, "$db": "admin"}`, `"code": {"$numberInt":"26823"}`, `"code": {"$numberInt":"26823"}`, `"info"`},
		{"killOp with one id", `{"killOp": 1, "op": 5, "$db": "admin"}`, `"info": "attempting to kill op"`, `"info": "attempting to kill op"`, `"info": "attempting to kill op"`},
	} {
		for version, want := range map[string]string{"7.0": test.v7, "8.0": test.v8, "9.0": test.v9} {
			c := dial(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Version(version)), 0)
			c.ok(`{"insert": "c", "documents": [{"_id": 1, "o": {"a": 1}}], "$db": "db"}`)
			if got := c.run("%s", test.command).String(); !strings.Contains(got, want) {
				t.Errorf("%s, version %s\ngot  %s\nwant %s", test.name, version, got, want)
			}
		}
	}
}
