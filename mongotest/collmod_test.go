package mongotest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The engine that the replies are compared with has no collMod; its replies here are the manual's.
func TestCollMod(t *testing.T) {
	c := dial(t, mongotest.RunReplicaSetT(t, 3, mongotest.InMemory()), 0)
	c.ok(`{"createIndexes": "c", "indexes": [{"key": {"t": 1}, "name": "t", "expireAfterSeconds": 100}, {"key": {"b": 1}, "name": "b"},
		{"key": {"b": 1, "c": 1}, "name": "bc"}], "$db": "test"}`)
	c.ok(`{"create": "cap", "capped": true, "size": 1000, "$db": "test"}`)
	for _, test := range []struct{ rule, command, reply string }{
		{"nothing to change", `{"collMod": "c"`, `{"ok": 1.0}`},
		{"a collection that is not there", `{"collMod": "nope"`, `{"ok": 0.0, "errmsg": "ns does not exist", "code": 26, "codeName": "NamespaceNotFound"}`},
		{
			"an unknown field", `{"collMod": "c", "frob": 1`,
			`{"ok": 0.0, "errmsg": "BSON field 'collMod.frob' is an unknown field.", "code": 40415, "codeName": "IDLUnknownField"}`,
		},
		{"an index is hidden", `{"collMod": "c", "index": {"name": "b", "hidden": true}`, `{"hidden_old": false, "hidden_new": true, "ok": 1.0}`},
		{"and is so already", `{"collMod": "c", "index": {"name": "b", "hidden": true}`, `{"ok": 1.0}`},
		{"and shown again", `{"collMod": "c", "index": {"keyPattern": {"b": 1}, "hidden": false}`, `{"hidden_old": true, "hidden_new": false, "ok": 1.0}`},
		{
			"expireAfterSeconds is changed", `{"collMod": "c", "index": {"name": "t", "expireAfterSeconds": 200}`,
			`{"expireAfterSeconds_old": {"$numberLong": "100"}, "expireAfterSeconds_new": {"$numberLong": "200"}, "ok": 1.0}`,
		},
		{
			"or added", `{"collMod": "c", "index": {"name": "b", "expireAfterSeconds": 3}`,
			`{"expireAfterSeconds_new": {"$numberLong": "3"}, "ok": 1.0}`,
		},
		{
			"not to several fields", `{"collMod": "c", "index": {"name": "bc", "expireAfterSeconds": 3}`,
			`{"ok": 0.0, "errmsg": "TTL indexes are single-field indexes, compound indexes do not support TTL.", "code": 72, "codeName": "InvalidOptions"}`,
		},
		{
			"an index that is not there", `{"collMod": "c", "index": {"name": "nope", "hidden": true}`,
			`{"ok": 0.0, "errmsg": "cannot find index nope for ns test.c", "code": 27, "codeName": "IndexNotFound"}`,
		},
		{
			"no index is named", `{"collMod": "c", "index": {"hidden": true}`,
			`{"ok": 0.0, "errmsg": "Must specify either index name or key pattern.", "code": 72, "codeName": "InvalidOptions"}`,
		},
		{
			"the index of _id stays visible", `{"collMod": "c", "index": {"name": "_id_", "hidden": true}`,
			`{"ok": 0.0, "errmsg": "can't hide _id index", "code": 2, "codeName": "BadValue"}`,
		},
		{
			"an index cannot be kept from being unique", `{"collMod": "c", "index": {"name": "b", "forceNonUnique": true}`,
			`{"ok": 0.0, "errmsg": "mongotest: the field 'forceNonUnique' of collMod.index is not supported", "code": 238, "codeName": "NotImplemented"}`,
		},
		{"a validator", `{"collMod": "c", "validator": {"a": {"$gt": 0}}, "validationLevel": "moderate"`, `{"ok": 1.0}`},
		{
			"which has effect", `{"insert": "c", "documents": [{"_id": 1}]`,
			`{"n": 0, "writeErrors": [{"index": 0, "code": 121, "errmsg": "Document failed validation", "errInfo": {"failingDocumentId": 1, "details": {"operatorName": "$gt", "specifiedAs": {"a": {"$gt": 0}}, "reason": "field was missing"}}}], "ok": 1.0}`,
		},
		{"and no longer when it is empty", `{"collMod": "c", "validator": {}`, `{"ok": 1.0}`},
		{"", `{"insert": "c", "documents": [{"_id": 1}]`, `{"n": 1, "ok": 1.0}`},
		{"a capped collection gets other limits", `{"collMod": "cap", "cappedSize": 2000, "cappedMax": 2`, `{"ok": 1.0}`},
		{
			"and no other does", `{"collMod": "c", "cappedSize": 2000`,
			`{"ok": 0.0, "errmsg": "Collection must be capped.", "code": 72, "codeName": "InvalidOptions"}`,
		},
		{"a null changes nothing", `{"collMod": "c", "validator": null, "index": null, "dryRun": null, "timeseries": null, "expireAfterSeconds": null`, `{"ok": 1.0}`},
		{
			"documents of other collections do not expire by their time", `{"collMod": "c", "expireAfterSeconds": 5`,
			`{"ok": 0.0, "errmsg": "'expireAfterSeconds' option is only supported on collections clustered by _id", "code": 72, "codeName": "InvalidOptions"}`,
		},
		{
			"nor have others buckets", `{"collMod": "c", "timeseries": {"granularity": "hours"}`,
			`{"ok": 0.0, "errmsg": "option only supported on a time-series collection: timeseries", "code": 72, "codeName": "InvalidOptions"}`,
		},
		{"prepared, as a trial", `{"collMod": "c", "dryRun": true, "index": {"name": "b", "prepareUnique": true}`, `{"ok": 1.0}`},
		{
			"which changed nothing", `{"collMod": "c", "dryRun": true, "index": {"name": "b", "unique": true}`,
			`{"ok": 0.0, "errmsg": "Cannot make index unique with 'collMod' before it is set to 'prepareUnique'", "code": 72, "codeName": "InvalidOptions"}`,
		},
		{
			"dryRun is a boolean", `{"collMod": "c", "dryRun": "yes"`,
			`{"ok": 0.0, "errmsg": "BSON field 'collMod.dryRun' is the wrong type 'string', expected types '[bool, long, int, decimal, double]'", "code": 14, "codeName": "TypeMismatch"}`,
		},
	} {
		got := without(c.run(`%s, "$db": "test"}`, test.command), volatile...)
		if want := without(raw(t, test.reply)); got != want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", test.rule, test.command, got, want)
		}
	}
	shown := c.ok(`{"listCollections": 1, "filter": {"name": "cap"}, "$db": "test"}`).Lookup("cursor", "firstBatch", "0", "options")
	if got, want := shown.String(), `{"capped": true,"size": {"$numberInt":"2000"},"max": {"$numberInt":"2"}}`; got != want {
		t.Errorf("the options are %s, want %s", got, want)
	}
}

// https://www.mongodb.com/docs/manual/core/timeseries/timeseries-granularity/
func TestCollModOfTimes(t *testing.T) {
	c := dial(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()), 0)
	c.ok(`{"create": "ts", "timeseries": {"timeField": "t"}, "expireAfterSeconds": 100, "$db": "test"}`)
	c.ok(`{"create": "span", "timeseries": {"timeField": "t", "bucketMaxSpanSeconds": 60, "bucketRoundingSeconds": 60}, "$db": "test"}`)
	c.ok(`{"create": "cl", "clusteredIndex": {"key": {"_id": 1}, "unique": true}, "$db": "test"}`)
	c.ok(`{"create": "both", "timeseries": {"timeField": "t", "granularity": "seconds", "bucketMaxSpanSeconds": 3600}, "$db": "test"}`)
	const onlyCoarser = `Invalid transition`
	for _, test := range []struct{ command, reply string }{
		{`{"collMod": "ts", "timeseries": {"granularity": "hours"}`, onlyCoarser},
		{`{"collMod": "ts", "timeseries": {"granularity": "minutes"}`, `"ok": {"$numberDouble":"1.0"}`},
		{`{"collMod": "ts", "timeseries": {"granularity": "seconds"}`, onlyCoarser},
		{`{"collMod": "ts", "timeseries": {"granularity": "days"}`, `Enumeration value 'days'`},
		{`{"collMod": "ts", "timeseries": {"timeField": "x"}`, `'collMod.timeseries.timeField' is an unknown field`},
		{`{"collMod": "ts", "timeseries": 5`, `'collMod.timeseries' is the wrong type 'int'`},
		{`{"collMod": "span", "timeseries": {"granularity": "minutes"}`, onlyCoarser},
		{`{"collMod": "both", "timeseries": {"granularity": "seconds"}`, `"ok": {"$numberDouble":"1.0"}`},
		{`{"collMod": "both", "timeseries": {"granularity": "minutes"}`, `"ok": {"$numberDouble":"1.0"}`},
		{`{"listCollections": 1, "filter": {"name": "both"}`, `"granularity": "minutes","bucketMaxSpanSeconds": {"$numberInt":"86400"}`},
		{`{"collMod": "span", "timeseries": {"bucketMaxSpanSeconds": 30, "bucketRoundingSeconds": 30}`, `needs to be at least 60`},
		{`{"collMod": "span", "timeseries": {"bucketMaxSpanSeconds": 90}`, `equal to each other`},
		{`{"collMod": "span", "timeseries": {"bucketMaxSpanSeconds": 90, "bucketRoundingSeconds": 90}`, `"ok": {"$numberDouble":"1.0"}`},
		{`{"collMod": "ts", "expireAfterSeconds": -1`, `cannot be less than 0`},
		{`{"collMod": "ts", "expireAfterSeconds": "on"`, `Accepted value is 'off'`},
		{`{"collMod": "ts", "expireAfterSeconds": true`, `the wrong type 'bool'`},
		{`{"collMod": "ts", "expireAfterSeconds": "off"`, `"ok": {"$numberDouble":"1.0"}`},
		{`{"collMod": "cl", "expireAfterSeconds": 7`, `"ok": {"$numberDouble":"1.0"}`},
		{
			`{"listCollections": 1, "filter": {"name": "ts"}`,
			`"options": {"timeseries": {"timeField": "t","granularity": "minutes","bucketMaxSpanSeconds": {"$numberInt":"86400"}`,
		},
		{`{"listCollections": 1, "filter": {"name": "span"}`, `"bucketRoundingSeconds": {"$numberInt":"90"},"bucketMaxSpanSeconds": {"$numberInt":"90"}`},
		{`{"listCollections": 1, "filter": {"name": "cl"}`, `"expireAfterSeconds": {"$numberLong":"7"}`},
		{`{"listIndexes": "cl"`, `"expireAfterSeconds": {"$numberInt":"7"}`},
	} {
		if got := c.run(`%s, "$db": "test"}`, test.command).String(); !strings.Contains(got, test.reply) {
			t.Errorf("%s\ngot  %s\nwant %s", test.command, got, test.reply)
		}
	}
}

func TestACappedCollectionIsRolledBackInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`{"create": "c", "capped": true, "size": 4096, "max": 3, "$db": "test"}`)
		insert := func(id int, more string) {
			c.ok(`{"insert": "c", "documents": [{"_id": %d}], "$db": "test"%s}`, id, more)
		}
		for id := range 4 {
			insert(id, "")
		}
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		rs.Partition([]int{0}, []int{1, 2})
		for id := 4; id < 6; id++ {
			insert(id, `, "writeConcern": {"w": 1}`)
		}
		committed := c.ok(`{"find": "c", "readConcern": {"level": "majority"}, "$db": "test"}`)
		pass(12 * time.Second)
		rs.Heal()
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		after := c.ok(`{"find": "c", "$db": "test", "$readPreference": {"mode": "nearest"}}`)
		for i, want := range []int64{1, 2, 3} {
			if got := number(committed, "cursor", "firstBatch", fmt.Sprint(i), "_id"); got != want {
				t.Errorf("document %d that is committed is %d, want %d", i, got, want)
			}
			if got := number(after, "cursor", "firstBatch", fmt.Sprint(i), "_id"); got != want {
				t.Errorf("after the rollback document %d is %d, want %d", i, got, want)
			}
		}
	})
}

// TestIndexesBecomeUnique makes an index unique that has duplicates at first.
func TestIndexesBecomeUnique(t *testing.T) {
	p := newPlayers(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()))
	p.play(`- | {"createIndexes": "c", "indexes": [{"key": {"n": 1}, "name": "n"}]} | ok
	        - | PUT 1 1 | n 1
	        - | PUT 2 1 | n 1
	        - | PUT 3 1 | n 1
	        - | {"collMod": "c", "index": {"name": "n", "unique": true}} | 72
	        - | {"collMod": "c", "index": {"name": "_id_", "prepareUnique": true}} | 72
	        - | {"collMod": "c", "index": {"name": "n", "prepareUnique": true}} | ok
	        - | PUT 4 1 | write error 11000
	        - | PUT 4 4 | n 1
	        - | SET 4 1 | write error 11000
	        - | {"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"m": 1}}}]} | n 1
	        - | DEL 3   | n 1
	        - | PUT 5 1 | write error 11000`)
	reply := p.run("-", `{"collMod": "c", "index": {"name": "n", "unique": true}}`)
	if brief(reply) != "359" || reply.Lookup("violations").String() != `[{"ids": [{"$numberInt":"1"},{"$numberInt":"2"}]}]` {
		t.Errorf("with duplicates: %v", reply)
	}
	p.play(`- | DEL 2   | n 1
	        - | PUT 5 1 | write error 11000
	        - | {"collMod": "c", "index": {"name": "n", "unique": true}} | ok
	        - | PUT 5 1 | write error 11000
	        - | DEL 1   | n 1
	        - | PUT 5 1 | n 1`)
}

// TestACollModOfAValidatorStatesLevelAndAction checks what listCollections shows: a collMod of one of the three options keeps all, with the
// defaults of https://www.mongodb.com/docs/manual/core/schema-validation/.
func TestACollModOfAValidatorStatesLevelAndAction(t *testing.T) {
	for _, test := range []struct{ created, modified, want string }{
		{``, `"validator": {"a": 1}`, `"validationLevel": "strict","validationAction": "error"`},
		{``, `"validationLevel": "moderate"`, `"validationLevel": "moderate","validationAction": "error"`},
		{`, "validator": {"a": 1}, "validationAction": "warn"`, `"validator": {"a": 2}`, `"validationLevel": "strict","validationAction": "warn"`},
		{``, `"validationAction": "warn"`, `"validationLevel": "strict","validationAction": "warn"`},
	} {
		c := dial(t, mongotest.RunStandaloneT(t, mongotest.InMemory()), 0)
		c.ok(`{"create": "c"%s, "$db": "test"}`, test.created)
		c.ok(`{"collMod": "c", %s, "$db": "test"}`, test.modified)
		c.has(test.want, `{"listCollections": 1, "$db": "test"}`)
	}
}
