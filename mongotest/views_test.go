package mongotest_test

import (
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

// collMod of a view, and the members where views are read. The rest is in testdata/cases.
func TestViews(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
	c, other := dial(t, rs, 0), dial(t, rs, 1)
	c.ok(`{"insert": "c", "documents": [{"_id": 1, "a": 1}, {"_id": 2, "a": 2}], "$db": "db"}`)
	c.ok(`{"create": "v", "viewOn": "c", "pipeline": [{"$match": {"a": 1}}], "$db": "db"}`)
	c.ok(`{"create": "w", "viewOn": "v", "pipeline": [], "$db": "db", "writeConcern": {"w": 3}}`)
	for _, s := range []struct{ name, command, want string }{
		{"in a transaction", `{"find": "w", "$db": "db", ` + lsid + `, "txnNumber": {"$numberLong": "1"}, "startTransaction": true, "autocommit": false}`, `"firstBatch": [{"_id": {"$numberInt":"1"},"a": {"$numberInt":"1"}}]`},
		{"its end", `{"commitTransaction": 1, "$db": "admin", ` + lsid + `, "txnNumber": {"$numberLong": "1"}, "autocommit": false}`, `"ok": {"$numberDouble":"1.0"}`},
		{"another pipeline", `{"collMod": "v", "viewOn": "c", "pipeline": [{"$match": {"a": 2}}], "$db": "db", "writeConcern": {"w": 3}}`, `"ok": {"$numberDouble":"1.0"}`},
		{"which the view on it shows", `{"find": "w", "$db": "db"}`, `"firstBatch": [{"_id": {"$numberInt":"2"},"a": {"$numberInt":"2"}}]`},
		{"a view on itself", `{"collMod": "v", "viewOn": "w", "pipeline": [], "$db": "db"}`, `"codeName": "GraphContainsCycle"`},
		{"one that writes", `{"collMod": "v", "viewOn": "c", "pipeline": [{"$out": "x"}], "$db": "db"}`, `"codeName": "OptionNotSupportedOnView"`},
		{"half of a view", `{"collMod": "v", "viewOn": "c", "$db": "db"}`, `"ok": {"$numberDouble":"1.0"}`},
		{"a null is no option", `{"collMod": "v", "viewOn": "c", "pipeline": null, "$db": "db"}`, `"ok": {"$numberDouble":"1.0"}`},
		{"a validator of a view", `{"collMod": "v", "validator": {}, "$db": "db"}`, `option not supported on a view: validator`},
		{"a pipeline of a collection", `{"collMod": "c", "pipeline": [], "viewOn": "c", "$db": "db"}`, `option only supported on a view`},
	} {
		t.Run(s.name, func(t *testing.T) {
			if reply := c.run("%s", s.command).String(); !strings.Contains(reply, s.want) {
				t.Errorf("the reply is %s; want %s in it", reply, s.want)
			}
		})
	}
	reply := other.ok(`{"aggregate": "w", "pipeline": [{"$count": "n"}], "cursor": {}, "$db": "db", "$readPreference": {"mode": "secondary"}}`)
	if n := number(reply, "cursor", "firstBatch", "0", "n"); n != 1 {
		t.Errorf("a secondary's view is %v", reply)
	}
}
