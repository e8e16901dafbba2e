package mongotest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The manual has the rules: https://www.mongodb.com/docs/manual/reference/command/profile/ and
// https://www.mongodb.com/docs/manual/reference/database-profiler/.

// profiledBy returns what system.profile has, the oldest first, but for the reads of itself.
func profiledBy(c *rawClient, db string) []bson.Raw {
	c.t.Helper()
	found := c.ok(`{"find": "system.profile", "filter": {"ns": {"$ne": "%s.system.profile"}}, "$readPreference": {"mode": "nearest"}, "$db": "%s"}`, db, db)
	values, _ := found.Lookup("cursor", "firstBatch").Array().Values()
	list := make([]bson.Raw, len(values))
	for i, v := range values {
		list[i] = v.Document()
	}
	return list
}

func TestProfileTellsWhatHeldBefore(t *testing.T) {
	const note = `,"note": "When a filter expression is set, slowms and sampleRate are not used for profiling and slow-query log lines."`
	c := dial(t, mongotest.RunStandaloneT(t, mongotest.InMemory()), 0)
	for _, test := range []struct{ rule, command, want string }{
		{"profiling is off", `"profile": -1`, `"was": {"$numberInt":"0"},"slowms": {"$numberInt":"100"},"sampleRate": {"$numberDouble":"1.0"},"ok": `},
		{"a level is set", `"profile": 2`, `"was": {"$numberInt":"0"}`},
		{"a level that there is not only reads", `"profile": 3`, `"was": {"$numberInt":"2"}`},
		{"limits are set with a level", `"profile": 1, "slowms": 20.9, "sampleRate": 0.5`, `"was": {"$numberInt":"2"},"slowms": {"$numberInt":"100"}`},
		{"and without one", `"profile": -1, "slowms": 30`, `"was": {"$numberInt":"1"},"slowms": {"$numberInt":"20"},"sampleRate": {"$numberDouble":"0.5"}`},
		{"a filter is set", `"profile": 1, "filter": {"op": "query"}`, `"slowms": {"$numberInt":"30"},"sampleRate": {"$numberDouble":"0.5"}` + note},
		{"and shown", `"profile": -1`, `"filter": {"op": "query"}` + note},
		{"it stays with another level", `"profile": 0`, `"filter": {"op": "query"}`},
		{"until it is unset", `"profile": 0, "filter": "unset"`, `"filter": {"op": "query"}` + note},
		{"and then is gone", `"profile": -1`, `"sampleRate": {"$numberDouble":"0.5"},"ok": `},
		{"nulls are no limits", `"profile": -1, "slowms": null, "sampleRate": null`, `"slowms": {"$numberInt":"30"},"sampleRate": {"$numberDouble":"0.5"},"ok": `},
		{"a rate of more than 1", `"profile": 0, "sampleRate": 1.5`, `'sampleRate' must be between 0.0 and 1.0 inclusive`},
		{"a rate that is no number", `"profile": 0, "sampleRate": "x"`, `BSON field 'profile.sampleRate' is the wrong type 'string'`},
		{"a limit that is no number", `"profile": 0, "slowms": "x"`, `BSON field 'profile.slowms' is the wrong type 'string'`},
		{"a level that is no number", `"profile": "x"`, `BSON field 'profile.profile' is the wrong type 'string'`},
		{"a filter that is no document", `"profile": 0, "filter": 1`, `Expected an object, or the string 'unset'.`},
		{"a filter that is null", `"profile": 0, "filter": null`, `Expected an object, or the string 'unset'.`},
		{"a filter that cannot be read", `"profile": 0, "filter": {"$fantasy": 1}`, `unknown top level operator: $fantasy`},
		{"an unknown field", `"profile": 0, "x": 1`, `BSON field 'profile.x' is an unknown field.`},
	} {
		if reply := c.run(`{%s, "$db": "test"}`, test.command).String(); !strings.Contains(reply, test.want) {
			t.Errorf("%s: the reply is %s; want %s in it", test.rule, reply, test.want)
		}
	}
	old := dial(t, mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.Version("4.2")), 0)
	if reply := old.run(`{"profile": 0, "filter": {}, "$db": "test"}`); number(reply, "ok") != 0 {
		t.Errorf("a filter before 4.4.2: %v", reply)
	}
}

// TestWhatTheProfilerRecords checks entries without what differs from run to run.
func TestWhatTheProfilerRecords(t *testing.T) {
	const after = `"protocol": "op_msg","millis": {"$numberInt":"0"},"allUsers": [],"user": ""}`
	const scanned = `"keysExamined": {"$numberInt":"0"},"docsExamined": {"$numberInt":"2"},`
	const afterScan = `"protocol": "op_msg","millis": {"$numberInt":"0"},"planSummary": "COLLSCAN","allUsers": [],"user": ""}`
	const byID = `"keysExamined": {"$numberInt":"1"},"docsExamined": {"$numberInt":"1"},`
	const afterID = `"protocol": "op_msg","millis": {"$numberInt":"0"},"planSummary": "IDHACK","allUsers": [],"user": ""}`
	for _, test := range []struct{ rule, command, want string }{
		{
			"an insert is one operation", `{"insert": "c", "documents": [{"_id": 3}, {"_id": 4}], "$db": "test"}`,
			`{"op": "insert","ns": "test.c","command": {"insert": "c","documents": [{"_id": {"$numberInt":"3"}},{"_id": {"$numberInt":"4"}}],"$db": "test"},"ninserted": {"$numberInt":"2"},"numYield": {"$numberInt":"0"},` + after,
		},
		{
			"so is one that fails", `{"insert": "c", "documents": [{"_id": 5}, {"_id": 1}], "$db": "test"}`,
			`"ninserted": {"$numberInt":"1"},"numYield": {"$numberInt":"0"},"ok": {"$numberDouble":"0.0"},"errMsg": "E11000 duplicate key error collection: test.c index: _id_ dup key: { _id: 1 }","errName": "DuplicateKey","errCode": {"$numberInt":"11000"},` + after,
		},
		{
			"an update has its flags, and how many it found and changed", `{"update": "c", "updates": [{"q": {}, "u": {"$set": {"n": 1}}, "multi": true}], "$db": "test"}`,
			`{"op": "update","ns": "test.c","command": {"q": {},"u": {"$set": {"n": {"$numberInt":"1"}}},"multi": true,"upsert": false},` + scanned + `"nMatched": {"$numberInt":"2"},"nModified": {"$numberInt":"1"},"nUpserted": {"$numberInt":"0"},"numYield": {"$numberInt":"0"},` + afterScan,
		},
		{
			"an upsert found nothing", `{"update": "c", "updates": [{"q": {"_id": 7}, "u": {"$set": {"n": 1}}, "upsert": true}], "$db": "test"}`,
			`"nMatched": {"$numberInt":"0"},"nModified": {"$numberInt":"0"},"nUpserted": {"$numberInt":"1"}`,
		},
		{
			"a delete", `{"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}], "$db": "test"}`,
			`{"op": "remove","ns": "test.c","command": {"q": {"_id": {"$numberInt":"1"}},"limit": {"$numberInt":"1"}},` + byID + `"ndeleted": {"$numberInt":"1"},"numYield": {"$numberInt":"0"},` + afterID,
		},
		{
			"a find", `{"find": "c", "filter": {"_id": 1}, "$db": "test"}`,
			`{"op": "query","ns": "test.c","command": {"find": "c","filter": {"_id": {"$numberInt":"1"}},"$db": "test"},` + byID + `"cursorExhausted": true,"numYield": {"$numberInt":"0"},"nreturned": {"$numberInt":"1"},` + afterID,
		},
		{
			"an aggregation", `{"aggregate": "c", "pipeline": [], "cursor": {}, "$db": "test"}`,
			`{"op": "command","ns": "test.c","command": {"aggregate": "c","pipeline": [],"cursor": {},"$db": "test"},` + scanned + `"cursorExhausted": true,"numYield": {"$numberInt":"0"},"nreturned": {"$numberInt":"2"},` + afterScan,
		},
		{
			"a command that fails", `{"find": "c", "filter": {"$fantasy": 1}, "$db": "test"}`,
			`"numYield": {"$numberInt":"0"},"ok": {"$numberDouble":"0.0"},"errMsg": "unknown top level operator: $fantasy.`,
		},
		{
			"a findAndModify that changes", `{"findAndModify": "c", "query": {"_id": 1}, "update": {"$set": {"n": 2}}, "$db": "test"}`,
			`"op": "command","ns": "test.c","command": {"findAndModify": "c","query": {"_id": {"$numberInt":"1"}},"update": {"$set": {"n": {"$numberInt":"2"}}},"$db": "test"},` + byID + `"nMatched": {"$numberInt":"1"},"numYield"`,
		},
		{"one that removes", `{"findAndModify": "c", "query": {"_id": 1}, "remove": true, "$db": "test"}`, `"ndeleted": {"$numberInt":"1"},"numYield"`},
		{
			"one that upserts", `{"findAndModify": "c", "query": {"_id": 9}, "update": {"a": 1}, "upsert": true, "$db": "test"}`,
			`"nMatched": {"$numberInt":"0"},"nModified": {"$numberInt":"0"},"nUpserted": {"$numberInt":"1"}`,
		},
		{
			"a plan names the keys of its index", `{"find": "c", "filter": {"n": 1}, "$db": "test"}`,
			`"keysExamined": {"$numberInt":"1"},"docsExamined": {"$numberInt":"1"},"cursorExhausted": true,"numYield": {"$numberInt":"0"},"nreturned": {"$numberInt":"1"},"protocol": "op_msg","millis": {"$numberInt":"0"},"planSummary": "IXSCAN { n: 1 }"`,
		},
		{"each branch of an $or has its own", `{"find": "c", "filter": {"$or": [{"n": 1}, {"_id": 1}]}, "$db": "test"}`, `"planSummary": "IXSCAN { _id: 1 }, IXSCAN { n: 1 }"`},
		{"a sort is told", `{"find": "c", "sort": {"m": 1}, "$db": "test"}`, `"docsExamined": {"$numberInt":"2"},"hasSortStage": true,"cursorExhausted": true`},
		{"and that plans competed", `{"count": "c", "query": {"n": {"$gte": 1}, "_id": {"$gt": 1}}, "$db": "test"}`, `"fromMultiPlanner": true,"numYield"`},
		{"a delete looks at what it deletes", `{"delete": "c", "deletes": [{"q": {"n": {"$gt": 0}}, "limit": 0}], "$db": "test"}`, `"keysExamined": {"$numberInt":"1"},"docsExamined": {"$numberInt":"1"},"ndeleted": {"$numberInt":"1"}`},
		{"a command on no collection", `{"listCollections": 1, "$db": "test"}`, `{"op": "command","ns": "test.$cmd","command": {"listCollections"`},
		{"an aggregation on none", `{"aggregate": 1, "pipeline": [{"$documents": []}], "cursor": {}, "$db": "test"}`, `"ns": "test.$cmd.aggregate"`},
		{"an explain is about a collection", `{"explain": {"find": "c"}, "$db": "test"}`, `{"op": "command","ns": "test.c","command": {"explain": {"find": "c"}`},
		{"a long command is cut", `{"find": "c", "comment": "why", "filter": {"a": "` + strings.Repeat("x", 60000) + `"}, "$db": "test"}`, `xxx","comment": "why"}`},
	} {
		bubbleOf(t, 1, func(t *testing.T, rs *mongotest.Deployment) { // whose clock stands still, so that nothing takes long
			c := dial(t, rs, 0)
			c.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2, "n": 1}], "$db": "test"}`)
			c.ok(`{"createIndexes": "c", "indexes": [{"key": {"n": 1}, "name": "n_1"}], "$db": "test"}`)
			c.ok(`{"profile": 2, "$db": "test"}`)
			c.run("%s", test.command)
			list := profiledBy(c, "test")
			if len(list) != 1 {
				t.Fatalf("%s: %v", test.rule, list)
			}
			if got := without(list[0], "ts", "client", "responseLength"); !strings.Contains(got, test.want) {
				t.Errorf("%s: the entry is %.2000s\nwant in it %s", test.rule, got, test.want)
			}
		})
	}
}

func TestTheProfilerRecordsEachStatementOfAnUpdate(t *testing.T) {
	c := dial(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()), 0)
	c.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}], "$db": "test"}`)
	c.ok(`{"profile": 2, "$db": "test"}`)
	c.ok(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"n": 1}}}, {"q": {"_id": 2}, "u": {"$set": {"_id": 3}}}, {"q": {"_id": 2}, "u": {"$set": {"n": 1}}}], "ordered": false, "$db": "test"}`)
	list := profiledBy(c, "test")
	if len(list) != 3 {
		t.Fatal(list)
	}
	for i, want := range []int64{-1, 66, -1} {
		if got := number(list[i], "errCode"); got != want || list[i].Lookup("op").StringValue() != "update" {
			t.Errorf("statement %d: %v", i, list[i])
		}
	}
}

// TestTheProfilerTellsOfCursors: an entry has the cursor that an operation left open, and a getMore always its own.
func TestTheProfilerTellsOfCursors(t *testing.T) {
	c := dial(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()), 0)
	c.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}], "$db": "test"}`)
	c.ok(`{"profile": 2, "$db": "test"}`)
	id := number(c.ok(`{"find": "c", "batchSize": 1, "$db": "test"}`), "cursor", "id")
	c.ok(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "$db": "test"}`, id)
	list := profiledBy(c, "test")
	if len(list) != 2 || number(list[0], "cursorid") != id || number(list[1], "cursorid") != id {
		t.Fatalf("cursor %d: %v", id, list)
	}
	if _, err := list[0].LookupErr("cursorExhausted"); err == nil || number(list[0], "nreturned") != 1 {
		t.Errorf("the find: %v", list[0])
	}
	more := list[1]
	if more.Lookup("op").StringValue() != "getmore" || more.Lookup("ns").StringValue() != "test.c" || number(more, "nreturned") != 2 || !more.Lookup("cursorExhausted").Boolean() {
		t.Errorf("the getMore: %v", more)
	}
	if more.Lookup("originatingCommand", "find").StringValue() != "c" {
		t.Errorf("the getMore comes from no find: %v", more)
	}
}

// TestLevel1RecordsWhatIsSlow: so slow as slowms says, or what matches the filter.
func TestLevel1RecordsWhatIsSlow(t *testing.T) {
	bubbleOf(t, 1, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`{"profile": 1, "$db": "test"}`)
		c.ok(`{"find": "c", "$db": "test"}`)
		c.ok(`{"configureFailPoint": "failCommand", "mode": {"times": 2}, "data": {"failCommands": ["count"], "blockConnection": true, "blockTimeMS": 150}, "$db": "admin"}`)
		c.ok(`{"count": "c", "$db": "test"}`)
		c.ok(`{"count": "c", "$db": "other"}`)
		if list := profiledBy(c, "test"); len(list) != 1 || list[0].Lookup("command", "count").StringValue() != "c" || number(list[0], "millis") != 150 {
			t.Errorf("what takes 150 ms: %v", list)
		}
		c.ok(`{"profile": 1, "filter": {"op": "query", "$expr": {"$eq": ["$command.find", "d"]}}, "$db": "test"}`)
		c.ok(`{"find": "c", "$db": "test"}`)
		c.ok(`{"find": "d", "$db": "test"}`)
		if list := profiledBy(c, "test"); len(list) != 2 || list[1].Lookup("ns").StringValue() != "test.d" {
			t.Errorf("what a filter has: %v", list)
		}
	})
}

// TestTheCollectionOfTheProfiler: it is capped, has no index, is dropped only while the profiler is off, and can be made larger.
func TestTheCollectionOfTheProfiler(t *testing.T) {
	c := dial(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()), 0)
	c.ok(`{"profile": 2, "$db": "test"}`)
	listed := c.ok(`{"listCollections": 1, "$db": "test"}`).String()
	if !strings.Contains(listed, `"options": {"capped": true,"size": {"$numberInt":"1048576"}}`) {
		t.Errorf("it is %s", listed)
	}
	for _, test := range []struct{ rule, command, want string }{
		{"it is not dropped while it is in use", `{"drop": "system.profile", "$db": "test"}`, `turn off profiling before dropping system.profile collection`},
		{"nobody writes into it", `{"insert": "system.profile", "documents": [{}], "$db": "test"}`, `cannot write to test.system.profile`},
		{"an aggregation reads it", `{"aggregate": "system.profile", "pipeline": [{"$match": {"ns": "test.c"}}, {"$count": "n"}], "cursor": {}, "$db": "test"}`, `"firstBatch": [{"n": {"$numberInt":"1"}}]`},
		{"what reads it is recorded too", `{"count": "system.profile", "query": {"ns": "test.system.profile"}, "$db": "test"}`, `"n": {"$numberInt":"3"}`},
		{
			"no transaction reads it", `{"find": "system.profile", "lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}, "txnNumber": {"$numberLong": "1"}, "startTransaction": true, "autocommit": false, "$db": "test"}`,
			`Cannot run command against the 'test.system.profile' collection in a transaction.`,
		},
		{"profiling ends", `{"profile": 0, "$db": "test"}`, `"was": {"$numberInt":"2"}`},
		{"and it is dropped", `{"drop": "system.profile", "$db": "test"}`, `"nIndexesWas": {"$numberInt":"0"}`},
		{"one that is not capped", `{"create": "system.profile", "$db": "test"}`, `"ok": {"$numberDouble":"1.0"}`},
		{"does not serve", `{"profile": 2, "$db": "test"}`, `test.system.profile exists but isn't capped`},
		{"it is dropped", `{"drop": "system.profile", "$db": "test"}`, `"ok": {"$numberDouble":"1.0"}`},
		{"a smaller one", `{"create": "system.profile", "capped": true, "size": 4096, "$db": "test"}`, `"ok": {"$numberDouble":"1.0"}`},
		{"serves", `{"profile": 2, "$db": "test"}`, `"was": {"$numberInt":"0"}`},
	} {
		if test.rule == "an aggregation reads it" {
			c.ok(`{"insert": "c", "documents": [{"_id": 1}], "$db": "test"}`)
		}
		if reply := c.run("%s", test.command).String(); !strings.Contains(reply, test.want) {
			t.Errorf("%s: the reply is %s; want %s in it", test.rule, reply, test.want)
		}
	}
	for range 100 {
		c.ok(`{"count": "c", "$db": "test"}`)
	}
	if list := profiledBy(c, "test"); len(list) < 10 || len(list) > 40 {
		t.Errorf("4096 bytes hold %d entries", len(list))
	}
	c.ok(`{"dropDatabase": 1, "$db": "test"}`)
	if reply := c.ok(`{"profile": -1, "$db": "test"}`); number(reply, "was") != 0 {
		t.Errorf("after its database was dropped: %v", reply)
	}
}

// TestEachMemberHasItsOwnProfile: neither the level nor the collection is replicated, and a restart ends profiling only.
func TestEachMemberHasItsOwnProfile(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p, s := dial(t, rs, 0), dial(t, rs, 1)
		s.ok(`{"profile": 2, "$db": "test"}`)
		p.ok(`{"insert": "c", "documents": [{"_id": 1}], "writeConcern": {"w": 3}, "$db": "test"}`)
		s.ok(`{"find": "c", "$readPreference": {"mode": "secondary"}, "$db": "test"}`)
		if list := profiledBy(s, "test"); len(list) != 1 || list[0].Lookup("op").StringValue() != "query" {
			t.Errorf("the secondary has %v", list)
		}
		if listed := p.ok(`{"listCollections": 1, "nameOnly": true, "$db": "test"}`).String(); strings.Contains(listed, "system.profile") {
			t.Errorf("the primary has it too: %s", listed)
		}
		log := p.ok(`{"count": "oplog.rs", "query": {"$or": [{"ns": "test.system.profile"}, {"o.create": "system.profile"}]}, "$db": "local"}`)
		if number(log, "n") != 0 {
			t.Errorf("the oplog has it: %v", log)
		}
		rs.Kill(1)
		rs.Restart(1)
		s = dial(t, rs, 1)
		if was := number(s.ok(`{"profile": -1, "$db": "test"}`), "was"); was != 0 || len(profiledBy(s, "test")) != 1 {
			t.Errorf("after a restart: level %d, %v", was, profiledBy(s, "test"))
		}
		s.ok(`{"profile": 2, "$db": "test"}`)
		p.ok(`{"dropDatabase": 1, "writeConcern": {"w": 3}, "$db": "test"}`)
		if list := profiledBy(s, "test"); slices.ContainsFunc(list, func(e bson.Raw) bool { return e.Lookup("op").StringValue() == "query" }) {
			t.Errorf("after its database was dropped: %v", list)
		}
	})
}

func TestAMongosHasNoProfiler(t *testing.T) {
	rs := mongotest.RunShardedT(t, 1, 1, mongotest.InMemory())
	r, m := dialAt(t, rs.Dialer().DialContext, rs.MongosAddr(0)), dial(t, rs, 0)
	if reply := r.run(`{"profile": 1, "$db": "test"}`); number(reply, "code") != 2 {
		t.Errorf("level 1: %v", reply)
	}
	r.ok(`{"profile": 0, "slowms": 7, "$db": "test"}`)
	if reply := r.ok(`{"profile": -1, "$db": "test"}`); number(reply, "slowms") != 7 || number(reply, "was") != 0 {
		t.Errorf("it reads %v", reply)
	}
	m.ok(`{"profile": 2, "$db": "test"}`)
	r.ok(`{"find": "c", "$db": "test"}`)
	if list := profiledBy(m, "test"); len(list) != 1 || list[0].Lookup("op").StringValue() != "query" {
		t.Errorf("the member has %v", list)
	}
}

func TestTheProfilerTellsWhoSentTheCommand(t *testing.T) {
	rs := mongotest.RunStandaloneT(t, mongotest.Users(mongotest.User{Name: "alice", Password: "s3cret"}))
	db := connect(t, rs, options.Client().SetAppName("shop").SetAuth(options.Credential{Username: "alice", Password: "s3cret"})).Database("test")
	must[bson.Raw](t)(db.RunCommand(within(t), bson.D{{Key: "profile", Value: 2}}).Raw())
	reply := must[bson.Raw](t)(db.RunCommand(within(t), bson.D{{Key: "count", Value: "c"}}).Raw())
	entry := must[bson.Raw](t)(db.Collection("system.profile").FindOne(within(t), bson.D{{Key: "command.count", Value: "c"}}).Raw())
	for field, want := range map[string]string{
		"client": `"127.0.0.1"`, "appName": `"shop"`, "allUsers": `[{"user": "alice","db": "admin"}]`, "user": `"alice@admin"`,
		"responseLength": fmt.Sprintf(`{"$numberInt":"%d"}`, len(reply)),
	} {
		if got := entry.Lookup(field).String(); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
	if at := entry.Lookup("ts").Time(); time.Since(at).Abs() > time.Hour {
		t.Errorf("it was at %v", at)
	}
}

// TestTheProfileCanBeTailed: a getMore that waits gets the entry of what happens next.
func TestTheProfileCanBeTailed(t *testing.T) {
	bubbleOf(t, 1, func(t *testing.T, rs *mongotest.Deployment) {
		c, other := dial(t, rs, 0), dial(t, rs, 0)
		c.ok(`{"profile": 2, "$db": "test"}`)
		c.ok(`{"count": "c", "$db": "test"}`)
		id := number(c.ok(`{"find": "system.profile", "tailable": true, "awaitData": true, "filter": {"command.count": {"$exists": true}}, "$db": "test"}`), "cursor", "id")
		c.send(0, j(`{"getMore": {"$numberLong": "%d"}, "collection": "system.profile", "$db": "test"}`, id))
		synctest.Wait()
		other.ok(`{"count": "d", "$db": "test"}`)
		_, reply, err := c.receive()
		if err != nil || !strings.Contains(bson.Raw(reply.Body).String(), `"ns": "test.d"`) {
			t.Errorf("the getMore has %v, %v", bson.Raw(reply.Body), err)
		}
	})
}
