package mongotest_test

import (
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/spectest"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// script is a list of commands on one database, and what each is answered. A real server is asked the same where there is
// one; what it answers otherwise for good reason stands in unlike.
var script = []struct{ rule, command, reply string }{
	{"ping", `{"ping": 1}`, `{"ok": 1.0}`},
	{
		"an unknown command is named", `{"frobnicate": 1}`,
		`{"ok": 0.0, "errmsg": "no such command: 'frobnicate'", "code": 59, "codeName": "CommandNotFound"}`,
	},
	{"insert", `{"insert": "c", "documents": [{"_id": 1, "n": 1}, {"_id": 2, "n": 2, "a": [1, {"b": 2}]}]}`, `{"n": 2, "ok": 1.0}`},
	{
		"a duplicate _id ends an ordered insert", `{"insert": "c", "documents": [{"_id": 3}, {"_id": 1.0}, {"_id": 4}]}`,
		`{"n": 1, "writeErrors": [{"index": 1, "code": 11000, ` +
			`"errmsg": "E11000 duplicate key error collection: DB.c index: _id_ dup key: { _id: 1.0 }", "keyPattern": {"_id": 1}, "keyValue": {"_id": 1.0}}], "ok": 1.0}`,
	},
	{
		"and not an unordered one", `{"insert": "c", "ordered": false, "documents": [{"_id": "x"}, {"_id": "x"}, {"_id": 4}]}`,
		`{"n": 2, "writeErrors": [{"index": 1, "code": 11000, ` +
			`"errmsg": "E11000 duplicate key error collection: DB.c index: _id_ dup key: { _id: \"x\" }", "keyPattern": {"_id": 1}, "keyValue": {"_id": "x"}}], "ok": 1.0}`,
	},
	{
		"an _id is no array", `{"insert": "c", "documents": [{"_id": [1]}]}`,
		`{"n": 0, "writeErrors": [{"index": 0, "code": 53, "errmsg": "The '_id' value cannot be of type array"}], "ok": 1.0}`,
	},
	{
		"an unknown field of insert", `{"insert": "c", "documents": [{}], "frob": 1}`,
		`{"ok": 0.0, "errmsg": "BSON field 'insert.frob' is an unknown field.", "code": 40415, "codeName": "IDLUnknownField"}`,
	},
	{
		"a field that is missing", `{"insert": "c"}`,
		`{"ok": 0.0, "errmsg": "BSON field 'insert.documents' is missing but a required field", "code": 40414, ` +
			`"codeName": "IDLFailedToParse"}`,
	},
	{
		"an empty batch", `{"insert": "c", "documents": []}`,
		`{"ok": 0.0, "errmsg": "Write batch sizes must be between 1 and 100000. Got 0 operations.", "code": 16, ` +
			`"codeName": "InvalidLength"}`,
	},
	{
		"find", `{"find": "c", "filter": {"_id": 2}, "projection": {"n": 1, "_id": 0}}`,
		`{"cursor": {"firstBatch": [{"n": 2}], "id": {"$numberLong": "0"}, "ns": "DB.c"}, "ok": 1.0}`,
	},
	{
		"an inclusion of a dotted field", `{"find": "c", "filter": {"_id": 2}, "projection": {"a.b": 1}}`,
		`{"cursor": {"firstBatch": [{"_id": 2, "a": [{"b": 2}]}], "id": {"$numberLong": "0"}, "ns": "DB.c"}, "ok": 1.0}`,
	},
	{
		"an exclusion of a dotted field", `{"find": "c", "filter": {"_id": 2}, "projection": {"a.b": 0, "n": 0}}`,
		`{"cursor": {"firstBatch": [{"_id": 2, "a": [1, {}]}], "id": {"$numberLong": "0"}, "ns": "DB.c"}, "ok": 1.0}`,
	},
	{
		"inclusion and exclusion do not mix", `{"find": "c", "projection": {"a": 1, "n": 0}}`,
		`{"ok": 0.0, "errmsg": "Cannot do exclusion on field n in inclusion projection", "code": 31254, "codeName": "Location31254"}`,
	},
	{
		"sort, skip and limit", `{"find": "c", "filter": {"n": {"$exists": true}}, "sort": {"n": -1}, "skip": 1, "limit": 1}`,
		`{"cursor": {"firstBatch": [{"_id": 1, "n": 1}], "id": {"$numberLong": "0"}, "ns": "DB.c"}, "ok": 1.0}`,
	},
	{
		"an unknown query operator", `{"find": "c", "filter": {"a": {"$foo": 1}}}`,
		`{"ok": 0.0, "errmsg": "unknown operator: $foo", "code": 2, "codeName": "BadValue"}`,
	},
	{
		"an unknown top-level operator", `{"find": "c", "filter": {"$foo": 1}}`,
		`{"ok": 0.0, "errmsg": "unknown top level operator: $foo. If you have a field name that starts with a '$' symbol, ` +
			`consider using $getField or $setField.", "code": 2, "codeName": "BadValue"}`,
	},
	{
		"$in needs an array", `{"find": "c", "filter": {"a": {"$in": 1}}}`,
		`{"ok": 0.0, "errmsg": "$in needs an array", "code": 2, "codeName": "BadValue"}`,
	},
	{
		"a cursor that is not there", `{"getMore": {"$numberLong": "77"}, "collection": "c"}`,
		`{"ok": 0.0, "errmsg": "cursor id 77 not found", "code": 43, "codeName": "CursorNotFound"}`,
	},
	{"update", `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}`, `{"n": 1, "nModified": 1, "ok": 1.0}`},
	{
		"an update that changes nothing", `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"n": 2}}}]}`,
		`{"n": 1, "nModified": 0, "ok": 1.0}`,
	},
	{
		"an upsert", `{"update": "c", "updates": [{"q": {"_id": 9, "x.y": 1}, "u": {"$inc": {"n": 5}}, "upsert": true}]}`,
		`{"n": 1, "upserted": [{"index": 0, "_id": 9}], "nModified": 0, "ok": 1.0}`,
	},
	{
		"an unknown modifier", `{"update": "c", "updates": [{"q": {}, "u": {"$foo": {"a": 1}}}]}`,
		`{"n": 0, "writeErrors": [{"index": 0, "code": 9, "errmsg": "Unknown modifier: $foo. Expected a valid ` +
			`update modifier or pipeline-style update specified as an array"}], "nModified": 0, "ok": 1.0}`,
	},
	{
		"the _id does not change", `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"_id": 7}}}]}`,
		`{"n": 0, "writeErrors": [{"index": 0, "code": 66, "errmsg": "Plan executor error during update :: caused by :: Performing an update on the path '_id' ` +
			`would modify the immutable field '_id'"}], "nModified": 0, "ok": 1.0}`,
	},
	{
		"not by a replacement either", `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"_id": 7}}]}`,
		`{"n": 0, "writeErrors": [{"index": 0, "code": 66, "errmsg": "Plan executor error during update :: caused by :: After applying the update, the (immutable) ` +
			`field '_id' was found to have been altered to _id: 7"}], "nModified": 0, "ok": 1.0}`,
	},
	{
		"two operators on one path", `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a.b": 1}, "$inc": {"a": 1}}}]}`,
		`{"n": 0, "writeErrors": [{"index": 0, "code": 40, "errmsg": "Updating the path 'a' would create a ` +
			`conflict at 'a'"}], "nModified": 0, "ok": 1.0}`,
	},
	{
		"$inc of what is no number", `{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$inc": {"a": 1}}}]}`,
		`{"n": 0, "writeErrors": [{"index": 0, "code": 14, "errmsg": "Plan executor error during update :: caused by :: Cannot apply $inc to a value of ` +
			`non-numeric type. {_id: 2} has the field 'a' of non-numeric type array"}], "nModified": 0, "ok": 1.0}`,
	},
	{
		"$inc by what is no number", `{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$inc": {"a": "x"}}}]}`,
		`{"n": 0, "writeErrors": [{"index": 0, "code": 14, "errmsg": "Cannot increment with non-numeric ` +
			`argument: {a: \"x\"}"}], "nModified": 0, "ok": 1.0}`,
	},
	{
		"a path through a value", `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"n.x": 1}}}]}`,
		`{"n": 0, "writeErrors": [{"index": 0, "code": 28, "errmsg": "Plan executor error during update :: caused by :: Cannot create field 'x' in element ` +
			`{n: 2}"}], "nModified": 0, "ok": 1.0}`,
	},
	{
		"many need operators", `{"update": "c", "updates": [{"q": {}, "u": {"a": 1}, "multi": true}]}`,
		`{"n": 0, "writeErrors": [{"index": 0, "code": 9, "errmsg": "multi update is not supported for ` +
			`replacement-style update"}], "nModified": 0, "ok": 1.0}`,
	},
	{
		"findAndModify", `{"findAndModify": "c", "query": {"_id": 1}, "update": {"$inc": {"n": 1}}, "new": true, "fields": {"n": 1}}`,
		`{"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 1, "n": 3}, "ok": 1.0}`,
	},
	{
		"findAndModify that finds nothing", `{"findAndModify": "c", "query": {"_id": 99}, "update": {"$inc": {"n": 1}}}`,
		`{"lastErrorObject": {"n": 0, "updatedExisting": false}, "value": null, "ok": 1.0}`,
	},
	{
		"findAndModify that upserts", `{"findAndModify": "c", "query": {"_id": 98}, "update": {"$inc": {"n": 1}}, "upsert": true}`,
		`{"lastErrorObject": {"n": 1, "updatedExisting": false, "upserted": 98}, "value": null, "ok": 1.0}`,
	},
	{
		"findAndModify that removes", `{"findAndModify": "c", "query": {"n": {"$gt": 0}}, "sort": {"n": 1}, "remove": true}`,
		`{"lastErrorObject": {"n": 1}, "value": {"_id": 98, "n": 1}, "ok": 1.0}`,
	},
	{
		"findAndModify needs something to do", `{"findAndModify": "c", "query": {}}`,
		`{"ok": 0.0, "errmsg": "Either an update or remove=true must be specified", "code": 9, "codeName": "FailedToParse"}`,
	},
	{"delete one", `{"delete": "c", "deletes": [{"q": {"n": {"$gt": 0}}, "limit": 1}]}`, `{"n": 1, "ok": 1.0}`},
	{"count", `{"count": "c", "query": {"_id": {"$type": "int"}}}`, `{"n": 4, "ok": 1.0}`},
	{
		"the aggregation of a count", `{"aggregate": "c", "cursor": {}, "pipeline": [{"$match": {}}, {"$group": {"_id": 1, "n": {"$sum": 1}}}]}`,
		`{"cursor": {"firstBatch": [{"_id": 1, "n": 5}], "id": {"$numberLong": "0"}, "ns": "DB.c"}, "ok": 1.0}`,
	},
	{"delete all", `{"delete": "c", "deletes": [{"q": {}, "limit": 0}]}`, `{"n": 5, "ok": 1.0}`},
	{
		"a limit is 0 or 1", `{"delete": "c", "deletes": [{"q": {}, "limit": 2}]}`,
		`{"ok": 0.0, "errmsg": "The limit field in delete objects must be 0 or 1. Got 2", "code": 9, "codeName": "FailedToParse"}`,
	},
	{"create", `{"create": "e"}`, `{"ok": 1.0}`},
	{"drop", `{"drop": "c"}`, `{"nIndexesWas": 1, "ns": "DB.c", "ok": 1.0}`},
	{"drop what is not there", `{"drop": "c"}`, `{"ok": 1.0}`},
	{"dropDatabase", `{"dropDatabase": 1}`, `{"ok": 1.0}`},
	{
		"a namespace that is none", `{"find": ""}`,
		`{"ok": 0.0, "errmsg": "Invalid namespace specified: DB", "code": 73, "codeName": "InvalidNamespace"}`,
	},
}

// volatile are the fields of replies that differ from run to run or between a set's member and a standalone.
var volatile = []string{"$clusterTime", "operationTime", "electionId", "opTime", "dropped"}

func TestCommandsAnswerAsTheRealServer(t *testing.T) {
	playScript(t, dial(t, mongotest.RunReplicaSetT(t, 3, mongotest.InMemory()), 0), "mongotest_script")
}

func TestRealServerAnswersAsTheScript(t *testing.T) {
	uri, err := url.Parse(spectest.Server(t))
	if err != nil {
		t.Fatal(err)
	}
	playScript(t, dialAt(t, new(net.Dialer).DialContext, uri.Host), "mongotest_script")
}

func playScript(t *testing.T, c *rawClient, db string) {
	c.run(`{"dropDatabase": 1, "$db": "%s"}`, db)
	for _, step := range script {
		command := strings.TrimSuffix(step.command, "}") + `, "$db": "` + db + `"}`
		got := without(c.run("%s", command), volatile...)
		want := without(raw(t, strings.ReplaceAll(step.reply, "DB", db)))
		if got != want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", step.rule, step.command, got, want)
		}
	}
}
