package mongotest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// TestAdministration checks commands that the engine which the replies are compared with does not have, or not as a member
// of a set.
func TestAdministration(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.SetName("rs7"))
	c, other := dial(t, rs, 0), dial(t, rs, 1)
	c.ok(`{"insert": "c", "documents": [{"_id": 1, "a": [1, 2]}, {"_id": 2}], "$db": "test"}`)
	c.ok(`{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a", "unique": true}], "$db": "test"}`)
	for _, test := range []struct {
		rule, command string
		has           string // a part of the reply
	}{
		{"the status tells the role", `{"serverStatus": 1, "$db": "admin"}`, `"repl": {"isWritablePrimary": true`},
		{"and how many connections there are", `{"serverStatus": 1, "$db": "admin"}`, `"connections": {"current": {"$numberInt":"1"}`},
		{"all parameters", `{"getParameter": "*", "$db": "admin"}`, `"enableTestCommands": true,"featureCompatibilityVersion": {"version": "7.0"}`},
		{"a parameter that is set is kept", `{"setParameter": 1, "cursorTimeoutMillis": 5, "$db": "admin"}`, `"was": {"$numberLong":"600000"}`},
		{"", `{"getParameter": 1, "cursorTimeoutMillis": 1, "$db": "admin"}`, `"cursorTimeoutMillis": {"$numberLong":"5"}`},
		{"the command line", `{"getCmdLineOpts": 1, "$db": "admin"}`, `"replication": {"replSet": "rs7"}`},
		{"currentOp finds itself", `{"currentOp": 1, "$db": "admin"}`, `"command": {"currentOp": {"$numberInt":"1"},"$db": "admin"}`},
		{"statistics", `{"collStats": "c", "$db": "test"}`, `"indexSizes": {"_id_": {"$numberInt":"4096"},"a": {"$numberInt":"4096"}}`},
		{"a collection is valid", `{"validate": "c", "$db": "test"}`, `"keysPerIndex": {"_id_": {"$numberInt":"2"},"a": {"$numberInt":"3"}}`},
		{"", `{"validate": "c", "$db": "test"}`, `"valid": true,"repaired": false`},
		{"the log is the journal", `{"getLog": "global", "$db": "admin"}`, `insert test.c applied answered`},
		{"a plan by _id", `{"explain": {"find": "c", "filter": {"_id": 1}}, "verbosity": "queryPlanner", "$db": "test"}`, `"winningPlan": {"stage": "IDHACK"}`},
		{"a plan by a hint", `{"explain": {"count": "c", "query": {}, "hint": "a"}, "$db": "test"}`, `"stage": "COUNT","inputStage": {"stage": "COUNT_SCAN","nss": "test.c","keyPattern": {"a": {"$numberInt":"1"}},"indexName": "a"`},
		{"a plan of a delete", `{"explain": {"delete": "c", "deletes": [{"q": {"x": 1}, "limit": 1}]}, "$db": "test"}`, `"stage": "DELETE","inputStage": {"stage": "COLLSCAN"`},
		{"a plan of an aggregation", `{"explain": {"aggregate": "c", "pipeline": [{"$match": {"x": 1}}]}, "$db": "test"}`, `"stage": "COLLSCAN","filter": {"x": {"$eq": {"$numberInt":"1"}}}`},
		{"nothing to find", `{"explain": {"find": "nope"}, "$db": "test"}`, `"winningPlan": {"stage": "EOF","type": "nonExistentNamespace"}`},
		{"what the execution looks at", `{"explain": {"find": "c", "filter": {"a": 1}}, "verbosity": "executionStats", "$db": "test"}`, `"nReturned": {"$numberInt":"1"},"executionTimeMillis": {"$numberInt":"0"},"totalKeysExamined": {"$numberInt":"1"},"totalDocsExamined": {"$numberInt":"1"}`},
		{"an explained command changes nothing", `{"explain": {"delete": "c", "deletes": [{"q": {}, "limit": 0}]}, "$db": "test"}`, `"nWouldDelete": {"$numberInt":"2"}`},
		{"", `{"count": "c", "$db": "test"}`, `"n": {"$numberInt":"2"}`},
		{"profiling is off", `{"profile": -1, "$db": "test"}`, `"was": {"$numberInt":"0"}`},
		{"a level that there is not only reads", `{"profile": 7, "$db": "test"}`, `"was": {"$numberInt":"0"}`},
		{"commands list the commands", `{"listCommands": 1, "$db": "admin"}`, `"validate": {`},
		{"but not those of newer versions", `{"bulkWrite": 1, "$db": "admin"}`, `no such command: 'bulkWrite'`},
		{"a session has an id", `{"endSessions": [{"id": {"$uuid": "00000000-0000-4000-8000-000000000000"}}], "$db": "admin"}`, `"ok": {"$numberDouble":"1.0"}`},
		{"", `{"killSessions": [{"x": 1}], "$db": "admin"}`, `BSON field 'killSessions.killSessions.id' is missing`},
		{"", `{"refreshSessions": [{"id": 1}], "$db": "admin"}`, `is the wrong type 'int'`},
		{"", `{"refreshSessions": 1, "$db": "admin"}`, `BSON field 'refreshSessions.refreshSessions' is the wrong type 'int', expected type 'array'`},
		{"a user has a database", `{"killAllSessions": [{"user": "x"}], "$db": "admin"}`, `'killAllSessions.killAllSessions.db' is missing`},
		{"a note in the oplog", `{"appendOplogNote": 1, "data": {"x": 1}, "$db": "admin"}`, `"ok": {"$numberDouble":"1.0"}`},
		{"is an object", `{"appendOplogNote": 1, "data": 1, "$db": "admin"}`, `wrong type 'int', expected type 'object'`},
		{"a primary is not frozen", `{"replSetFreeze": 1, "$db": "admin"}`, `NotSecondary`},
	} {
		if got := c.run("%s", test.command).String(); !strings.Contains(got, test.has) {
			t.Errorf("%s: %s\ngot  %s\nwant %s", test.rule, test.command, got, test.has)
		}
	}
	if got := other.ok(`{"getParameter": 1, "cursorTimeoutMillis": 1, "$db": "admin"}`); number(got, "cursorTimeoutMillis") != 600000 {
		t.Errorf("another member has the parameter too: %v", got)
	}
	if got := other.run(`{"appendOplogNote": 1, "data": {}, "$db": "admin"}`); number(got, "code") != 10107 {
		t.Errorf("a secondary writes a note: %v", got)
	}
}

// config returns the set's configuration with another version and with more for the members.
func config(rs *mongotest.Deployment, version int, more ...string) string {
	var members []string
	for i := range rs.Members() {
		members = append(members, fmt.Sprintf(`{"_id": %d, "host": "%s"%s}`, i, rs.Addr(i), more[i]))
	}
	return fmt.Sprintf(`{"_id": "rs0", "version": %d, "members": [%s]}`, version, strings.Join(members, ", "))
}

func TestReconfiguration(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		tagged := config(rs, 2, `, "tags": {"dc": "a"}`, `, "priority": 0, "hidden": true`, "")
		c.ok(`{"replSetReconfig": %s, "$db": "admin"}`, tagged)
		hello := c.ok(`{"hello": 1, "$db": "admin"}`)
		if number(hello, "setVersion") != 2 || hello.Lookup("tags", "dc").StringValue() != "a" ||
			strings.Contains(hello.Lookup("hosts").String(), rs.Addr(1)) {
			t.Errorf("the hello is %v", hello)
		}
		if h := dial(t, rs, 1).ok(`{"hello": 1, "$db": "admin"}`); !h.Lookup("hidden").Boolean() || !h.Lookup("passive").Boolean() {
			t.Errorf("the hidden member's hello is %v", h)
		}
		shown := c.ok(`{"replSetGetConfig": 1, "$db": "admin"}`).Lookup("config").Document()
		if number(shown, "version") != 2 || number(shown, "members", "1", "priority") != 0 ||
			shown.Lookup("members", "0", "tags", "dc").StringValue() != "a" {
			t.Errorf("the configuration is %v", shown)
		}
		for rule, test := range map[string]struct {
			config string
			code   int64
		}{
			"the version grows":         {config(rs, 2, "", "", ""), 103},
			"votes":                     {config(rs, 3, "", "", `, "votes": 0`), 93},
			"another member":            {strings.Replace(tagged, rs.Addr(2), "else:1", 1), 238},
			"hidden without priority 0": {config(rs, 3, "", "", `, "hidden": true`), 93},
			"the primary is electable":  {config(rs, 3, `, "priority": 0`, "", ""), 103},
			"two members less":          {fmt.Sprintf(`{"_id": "rs0", "version": 3, "members": [{"_id": 0, "host": "%s"}]}`, rs.Addr(0)), 103},
		} {
			if got := c.run(`{"replSetReconfig": %s, "$db": "admin"}`, test.config); number(got, "code") != test.code {
				t.Errorf("%s: %v, want %d", rule, got, test.code)
			}
		}
		if got := dial(t, rs, 2).run(`{"replSetReconfig": %s, "$db": "admin"}`, config(rs, 3, "", "", "")); number(got, "code") != 10107 {
			t.Errorf("a secondary answers %v", got)
		}
		rs.Kill(0)
		if p := must[int](t)(rs.WaitPrimary(context.Background())); p != 2 {
			t.Errorf("member %d was elected, want 2 because 1 has priority 0", p)
		}
	})
}

func TestAFrozenMemberIsNotElected(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		dial(t, rs, 1).ok(`{"replSetFreeze": 60, "$db": "admin"}`)
		rs.Kill(0)
		if p := must[int](t)(rs.WaitPrimary(context.Background())); p != 2 {
			t.Errorf("member %d was elected, want 2 because 1 is frozen", p)
		}
		rs.Restart(0)
		dial(t, rs, 0).ok(`{"replSetFreeze": 60, "$db": "admin"}`)
		if got := dial(t, rs, 1).ok(`{"replSetFreeze": 0, "$db": "admin"}`); got.Lookup("info").StringValue() != "unfreezing" {
			t.Errorf("the end of it is answered %v", got)
		}
		pass(time.Second) // both copy what 2 began its term with: whoever had it alone would not vote for the other
		rs.Kill(2)
		pass(12 * time.Second)
		if p := rs.Primary(); p != 1 {
			t.Errorf("member %d was elected, want 1", p)
		}
	})
}

func TestABulkWriteIsExecutedOnce(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Version("8.0"))
	c := dial(t, rs, 0)
	bulk := func(txn int) string {
		return fmt.Sprintf(`{"bulkWrite": 1, "ops": [{"insert": 0, "document": {"_id": 1, "n": 0}}, {"update": 0, "filter": {"_id": 1},
			"updateMods": {"$inc": {"n": 1}}}, {"update": 1, "filter": {"_id": 5}, "updateMods": {"$inc": {"n": 1}}, "upsert": true},
			{"delete": 1, "filter": {"_id": 9}}], "nsInfo": [{"ns": "test.c"}, {"ns": "test.d"}], "$db": "admin", %s,
			"txnNumber": {"$numberLong": "%d"}}`, lsid, txn)
	}
	c.ok(`{"insert": "d", "documents": [{"_id": 9}], "$db": "test"}`)
	for i, retried := range []int64{-1, 3} {
		reply := c.ok("%s", bulk(1))
		if number(reply, "nInserted") != 1 || number(reply, "nMatched") != 1 || number(reply, "nModified") != 1 ||
			number(reply, "nUpserted") != 1 || number(reply, "nDeleted") != 1 || number(reply, "retriedStmtIds", "3") != retried {
			t.Errorf("attempt %d is answered %v", i, reply)
		}
	}
	must[any](t)(nil, rs.WaitIdle(context.Background()))
	if n := lastN(rs); n != 1 || len(rs.ReadAll("test.d")) != 1 {
		t.Errorf("n = %d, want 1; d has %v", n, rs.ReadAll("test.d"))
	}
	many := c.ok(`{"bulkWrite": 1, "ops": [{"delete": 0, "filter": {}, "multi": true}], "nsInfo": [{"ns": "test.c"}], "$db": "admin", %s,
		"txnNumber": {"$numberLong": "2"}}`, lsid)
	if number(many, "cursor", "firstBatch", "0", "code") != 72 || number(many, "nErrors") != 1 {
		t.Errorf("a delete of many with a number is answered %v", many)
	}
	open := c.ok(`{"bulkWrite": 1, "ops": [{"insert": 0, "document": {}}, {"insert": 0, "document": {}}], "nsInfo": [{"ns": "test.e"}],
		"cursor": {"batchSize": 1}, "$db": "admin"}`)
	rest := c.ok(`{"getMore": {"$numberLong": "%d"}, "collection": "$cmd.bulkWrite", "$db": "admin"}`, number(open, "cursor", "id"))
	if number(rest, "cursor", "nextBatch", "0", "idx") != 1 || number(rest, "cursor", "id") != 0 {
		t.Errorf("the rest is %v", rest)
	}
	open = c.ok(`{"bulkWrite": 1, "ops": [{"insert": 0, "document": {}}, {"insert": 0, "document": {}}], "nsInfo": [{"ns": "test.e"}],
		"cursor": {"batchSize": 1}, "$db": "admin"}`)
	killed := c.ok(`{"killCursors": "$cmd.bulkWrite", "cursors": [{"$numberLong": "%d"}], "$db": "admin"}`, number(open, "cursor", "id"))
	if number(killed, "cursorsKilled", "0") != number(open, "cursor", "id") {
		t.Errorf("killCursors is answered %v", killed)
	}
	for _, e := range rs.Journal() {
		if e.Command == "bulkWrite" && e.Namespace == "test.d" && e.StatementID == 2 && e.TxnNumber == 1 {
			return
		}
	}
	t.Errorf("the journal has no statement 2 on test.d:\n%s", rs.Dump())
}
