package mongotest_test

import (
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The first cases are the examples of https://www.mongodb.com/docs/manual/reference/command/mapReduce/ and of
// https://www.mongodb.com/docs/manual/tutorial/map-reduce-examples/, with fewer orders.
func TestMapReduce(t *testing.T) {
	const byCustomer = `"map": "function() { emit(this.cust, this.price) }", "reduce": "function(key, prices) { return Array.sum(prices) }"`
	for _, c := range []struct{ name, command, reply, then, found string }{
		{"the total of each customer", `{"mapReduce": "orders", ` + byCustomer + `, "out": {"inline": 1}}`, `"results": [{"_id": "A","value": {"$numberDouble":"75.0"}},{"_id": "B","value": {"$numberDouble":"10.0"}}]`, "", ""},
		{"quantities and averages of each item", `{"mapReduce": "orders", "map": "function() { for (var i of this.items) emit(i.sku, {count: 1, qty: i.qty}) }", "reduce": "function(key, all) { var r = {count: 0, qty: 0}; for (var v of all) { r.count += v.count; r.qty += v.qty } return r }", "finalize": "function(key, r) { r.avg = r.qty / r.count; return r }", "query": {"_id": {"$gte": 1}}, "out": {"inline": 1}}`, `{"_id": "pears","value": {"count": {"$numberDouble":"2.0"},"qty": {"$numberDouble":"15.0"},"avg": {"$numberDouble":"7.5"}}}`, "", ""},
		{"a query, a sort and a limit", `{"mapReduce": "orders", ` + byCustomer + `, "query": {"cust": "A"}, "sort": {"_id": -1}, "limit": 1, "out": {"inline": 1}}`, `"results": [{"_id": "A","value": {"$numberDouble":"50.0"}}]`, "", ""},
		{"a scope", `{"mapReduce": "orders", "map": "function() { emit(1, this.price * factor) }", "reduce": "function(k, v) { return Array.sum(v) + factor }", "scope": {"factor": 2}, "out": {"inline": 1}}`, `"value": {"$numberDouble":"172.0"}`, "", ""},
		{"a key with only one value is not reduced", `{"mapReduce": "orders", "map": "function() { emit(this._id, 7) }", "reduce": "function() { throw new Error('no') }", "query": {"_id": 1}, "out": {"inline": 1}}`, `"value": {"$numberDouble":"7.0"}`, "", ""},
		{"no document", `{"mapReduce": "none", ` + byCustomer + `, "out": {"inline": 1}}`, `"results": []`, "", ""},
		{"an output that replaces", `{"mapReduce": "orders", ` + byCustomer + `, "out": "totals"}`, `"result": "totals"`, `{"find": "totals", "sort": {"_id": 1}}`, `[{"_id": "A","value": {"$numberDouble":"75.0"}},{"_id": "B","value": {"$numberDouble":"10.0"}}]`},
		{"an output in another database", `{"mapReduce": "orders", ` + byCustomer + `, "out": {"replace": "totals", "db": "other"}}`, `"result": {"db": "other","collection": "totals"}`, `{"find": "totals"}`, `[{"_id": "Z","value": {"$numberInt":"1"}},{"_id": "A","value": {"$numberInt":"1"}}]`},
		{"an output that merges", `{"mapReduce": "orders", ` + byCustomer + `, "out": {"merge": "totals"}}`, `"result": "totals"`, `{"find": "totals", "sort": {"_id": 1}}`, `[{"_id": "A","value": {"$numberDouble":"75.0"}},{"_id": "B","value": {"$numberDouble":"10.0"}},{"_id": "Z","value": {"$numberInt":"1"}}]`},
		{"an output that is reduced with what there is", `{"mapReduce": "orders", ` + byCustomer + `, "out": {"reduce": "totals"}}`, `"result": "totals"`, `{"find": "totals", "sort": {"_id": 1}}`, `[{"_id": "A","value": {"$numberDouble":"76.0"}},{"_id": "B","value": {"$numberDouble":"10.0"}},{"_id": "Z","value": {"$numberInt":"1"}}]`},
		{"jsMode and verbose", `{"mapReduce": "orders", ` + byCustomer + `, "out": {"inline": 1}, "jsMode": true, "verbose": false}`, `"results"`, "", ""},
		{"a function with an error", `{"mapReduce": "orders", "map": "function() { emit(none) }", "reduce": "function() {}", "out": {"inline": 1}}`, `(JSInterpreterFailure 139)`, "", ""},
		{"emit with one argument", `{"mapReduce": "orders", "map": "function() { emit(1) }", "reduce": "function() {}", "out": {"inline": 1}}`, `emit takes 2 args`, "", ""},
		{"too little time", `{"mapReduce": "orders", "map": "function() { sleep(1000) }", "reduce": "function() {}", "out": {"inline": 1}, "maxTimeMS": 100}`, `(MaxTimeMSExpired 50)`, "", ""},
		{"$where in the query", `{"mapReduce": "orders", ` + byCustomer + `, "query": {"$where": "1"}, "out": {"inline": 1}}`, `$where is not allowed in this context`, "", ""},
		{"no map", `{"mapReduce": "orders", "reduce": "function() {}", "out": {"inline": 1}}`, `BSON field 'mapReduce.map' is missing but a required field`, "", ""},
		{"no out", `{"mapReduce": "orders", ` + byCustomer + `}`, `BSON field 'mapReduce.out' is missing but a required field`, "", ""},
		{"a map that is no code", `{"mapReduce": "orders", "map": 1, "reduce": "function() {}", "out": {"inline": 1}}`, `'map' must be of string or code type`, "", ""},
		{"a syntax error", `{"mapReduce": "orders", "map": "function(", "reduce": "function() {}", "out": {"inline": 1}}`, `SyntaxError`, "", ""},
		{"an out that is a number", `{"mapReduce": "orders", ` + byCustomer + `, "out": 1}`, `'out' must be either a string or an object`, "", ""},
		{"an empty out", `{"mapReduce": "orders", ` + byCustomer + `, "out": {}}`, `'out' must have one of`, "", ""},
		{"an unknown field of out", `{"mapReduce": "orders", ` + byCustomer + `, "out": {"inline": 1, "frob": 1}}`, `BSON field 'mapReduce.out.frob' is an unknown field`, "", ""},
		{"two places for the output", `{"mapReduce": "orders", ` + byCustomer + `, "out": {"inline": 1, "merge": "x"}}`, `'out' has both 'inline' and 'merge'`, "", ""},
		{"an unknown field", `{"mapReduce": "orders", ` + byCustomer + `, "out": "x", "frob": 1}`, `BSON field 'mapReduce.frob' is an unknown field`, "", ""},
		{"a query that is no object", `{"mapReduce": "orders", ` + byCustomer + `, "out": "x", "query": 1}`, `BSON field 'mapReduce.query' is the wrong type 'int', expected type 'object'`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
			for _, order := range []string{
				`{"_id": 1, "cust": "A", "price": 25, "items": [{"sku": "pears", "qty": 5}, {"sku": "nuts", "qty": 5}]}`,
				`{"_id": 2, "cust": "B", "price": 10, "items": [{"sku": "pears", "qty": 10}]}`, `{"_id": 3, "cust": "A", "price": 50, "items": []}`,
			} {
				must[any](t)(nil, rs.Insert("db.orders", j("%s", order)))
			}
			must[any](t)(nil, rs.Insert("db.totals", j(`{"_id": "Z", "value": 1}`), j(`{"_id": "A", "value": 1}`)))
			reply, err := rs.Command(0, "db", document(t, c.command))
			text := reply.String()
			if err != nil {
				text += err.Error()
			}
			if !strings.Contains(text, c.reply) {
				t.Errorf("the reply is %s, want %s", text, c.reply)
			}
			if c.then == "" {
				return
			}
			if reply, err := rs.Command(0, "db", document(t, c.then)); err != nil || !strings.Contains(reply.String(), c.found) {
				t.Errorf("then %s, %v, want %s", reply, err, c.found)
			}
		})
	}
}
