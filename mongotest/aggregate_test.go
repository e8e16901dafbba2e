package mongotest_test

import (
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

// Pipelines by way of the commands. The stages are tested in internal/pipeline, the expressions in internal/expr.
func TestPipelinesInCommands(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	client := dial(t, rs, 0)
	client.ok(`{"insert": "orders", "documents": [{"_id": 1, "who": "a", "n": 2}, {"_id": 2, "who": "b", "n": 3}, {"_id": 3, "who": "a", "n": 5}], "$db": "db"}`)
	client.ok(`{"insert": "people", "documents": [{"_id": "a", "name": "Ann"}, {"_id": "b", "name": "Bob"}], "$db": "db"}`)
	for _, c := range []struct{ name, command, reply string }{
		{
			"groups", `{"aggregate": "orders", "pipeline": [{"$group": {"_id": "$who", "sum": {"$sum": "$n"}}}, {"$sort": {"_id": 1}}], "cursor": {}, "$db": "db"}`,
			`"firstBatch": [{"_id": "a","sum": {"$numberInt":"7"}},{"_id": "b","sum": {"$numberInt":"3"}}]`,
		},
		{
			"a join", `{"aggregate": "orders", "pipeline": [{"$match": {"_id": 2}}, {"$lookup": {"from": "people", "localField": "who", "foreignField": "_id", "as": "p"}},
				{"$project": {"_id": 0, "name": {"$first": "$p.name"}}}], "cursor": {}, "$db": "db"}`,
			`"firstBatch": [{"name": "Bob"}]`,
		},
		{
			"variables of the command", `{"aggregate": "orders", "pipeline": [{"$match": {"$expr": {"$gt": ["$n", "$$least"]}}}, {"$count": "n"}], "let": {"least": 2}, "cursor": {}, "$db": "db"}`,
			`"firstBatch": [{"n": {"$numberInt":"2"}}]`,
		},
		{
			"documents of its own", `{"aggregate": 1, "pipeline": [{"$documents": [{"x": 1}]}], "cursor": {}, "$db": "db"}`,
			`"firstBatch": [{"x": {"$numberInt":"1"}}],"id": {"$numberLong":"0"},"ns": "db.$cmd.aggregate"`,
		},
		{
			"a document's error", `{"aggregate": "orders", "pipeline": [{"$project": {"x": {"$add": ["$who", 1]}}}], "cursor": {}, "$db": "db"}`,
			`Executor error during aggregate command on namespace: db.orders :: caused by :: `,
		},
		{
			"an unknown stage", `{"aggregate": "orders", "pipeline": [{"$sing": 1}], "cursor": {}, "$db": "db"}`,
			`Unrecognized pipeline stage name: '$sing'`,
		},
		{
			"one that writes", `{"aggregate": "orders", "pipeline": [{"$out": "copy"}], "cursor": {}, "$db": "db"}`,
			`"firstBatch": [],"id": {"$numberLong":"0"},"ns": "db.orders"`,
		},
		{
			"a collection's size", `{"aggregate": "people", "pipeline": [{"$collStats": {"count": {}, "storageStats": {}}}, {"$project": {"ns": 1, "count": 1, "n": "$storageStats.nindexes"}}], "cursor": {}, "$db": "db"}`,
			`"firstBatch": [{"ns": "db.people","count": {"$numberInt":"2"},"n": {"$numberInt":"1"}}]`,
		},
		{
			"the size of none", `{"aggregate": "nosuch", "pipeline": [{"$collStats": {"count": {}}}], "cursor": {}, "$db": "db"}`,
			`Unable to retrieve count in $collStats stage :: caused by :: Collection [db.nosuch] not found.`,
		},
		{
			"its indexes, of which the join used one", `{"aggregate": "people", "pipeline": [{"$indexStats": {}}, {"$project": {"name": 1, "key": 1, "ops": "$accesses.ops"}}], "cursor": {}, "$db": "db"}`,
			`"firstBatch": [{"name": "_id_","key": {"_id": {"$numberInt":"1"}},"ops": {"$numberLong":"1"}}]`,
		},
		{
			"what runs", `{"aggregate": 1, "pipeline": [{"$currentOp": {}}, {"$project": {"ns": 1, "n": "$command.aggregate"}}], "cursor": {}, "$db": "admin"}`,
			`"firstBatch": [{"ns": "admin.$cmd.aggregate","n": {"$numberInt":"1"}}]`,
		},
		{
			"what runs, elsewhere", `{"aggregate": 1, "pipeline": [{"$currentOp": {}}], "cursor": {}, "$db": "db"}`,
			`$currentOp must be run against the 'admin' database with {aggregate: 1}`,
		},
		{
			"sessions", `{"aggregate": 1, "pipeline": [{"$listLocalSessions": {}}, {"$project": {"_id": 0, "id": "$_id.id"}}], "cursor": {}, "$db": "db", ` + lsid + `}`,
			`"firstBatch": [{"id": {"$binary":{"base64":"AAAAAAAAAAAAAAAAAAAAAA==","subType":"04"}}}]`,
		},
		{
			"a stage that the stable API has not", `{"aggregate": 1, "pipeline": [{"$currentOp": {}}], "cursor": {}, "$db": "admin", "apiVersion": "1", "apiStrict": true}`,
			`"codeName": "APIStrictError"`,
		},
		{
			"a command that it has not", `{"distinct": "people", "key": "name", "$db": "db", "apiVersion": "1", "apiStrict": true}`,
			`command distinct is not in API Version 1.`,
		},
		{
			"what the stable API has", `{"aggregate": "people", "pipeline": [{"$count": "n"}], "cursor": {}, "$db": "db", "apiVersion": "1", "apiStrict": true}`,
			`"n": {"$numberInt":"2"}`,
		},
		{
			"an update that is one", `{"findAndModify": "orders", "query": {"_id": 1}, "update": [{"$set": {"n": {"$multiply": ["$n", 10]}}}], "new": true, "$db": "db"}`,
			`"n": {"$numberInt":"20"}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if reply := client.run("%s", c.command).String(); !strings.Contains(reply, c.reply) {
				t.Errorf("the reply is %s; want %s in it", reply, c.reply)
			}
		})
	}
}

// A result of several batches is fixed when the command runs.
func TestAPipelinesCursor(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	client := dial(t, rs, 0)
	client.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}], "$db": "db"}`)
	reply := client.ok(`{"aggregate": "c", "pipeline": [{"$set": {"x": 1}}], "cursor": {"batchSize": 2}, "$db": "db"}`)
	client.ok(`{"delete": "c", "deletes": [{"q": {}, "limit": 0}], "$db": "db"}`)
	reply = client.ok(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "$db": "db"}`, number(reply, "cursor", "id"))
	if got := reply.Lookup("cursor", "nextBatch").String(); got != `[{"_id": {"$numberInt":"3"},"x": {"$numberInt":"1"}}]` {
		t.Errorf("the second batch is %s", got)
	}
}
