package mongotest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

func wantUses(t *testing.T, client *rawClient, want string) {
	t.Helper()
	reply := client.run(`{"aggregate": "c", "pipeline": [{"$indexStats": {}}, {"$group": {"_id": null, "n": {"$push": {"$concat": ["$name", " ",
		{"$toString": "$accesses.ops"}]}}}}], "cursor": {}, "$db": "db", "$readPreference": {"mode": "primaryPreferred"}}`).String()
	if !strings.Contains(reply, want) {
		t.Errorf("the uses are %s; want %s", reply, want)
	}
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/indexStats/: the counts are those of one member, and begin again
// when it starts. The cases of internal/differential have which commands use which index; here is what they cannot show.
func TestUsesOfIndexes(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	client := dial(t, rs, 0)
	client.ok(`{"insert": "c", "documents": [{"_id": 1, "a": 1}, {"_id": 2, "a": 2}, {"_id": 3, "a": 2}], "$db": "db"}`)
	client.ok(`{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a"}], "$db": "db"}`)
	uses := func(want string) { t.Helper(); wantUses(t, client, want) }
	client.ok(`{"find": "c", "filter": {"a": {"$gt": 0}}, "batchSize": 1, "$db": "db"}`)
	uses(`["_id_ 0","a 1"]`)
	id := client.run(`{"find": "c", "filter": {"a": {"$gt": 0}}, "batchSize": 0, "$db": "db"}`).Lookup("cursor", "id").Int64()
	client.ok(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "$db": "db"}`, id)
	uses(`["_id_ 0","a 2"]`) // a getMore is no operation of its own
	must[bson.Raw](t)(rs.Command(0, "db", bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: bson.D{{Key: "a", Value: 1}}}}))
	uses(`["_id_ 0","a 2"]`)
	client.ok(`{"explain": {"aggregate": "c", "pipeline": [{"$match": {"a": 1}}, {"$lookup": {"from": "c", "localField": "a", "foreignField": "a", "as": "r"}}], "cursor": {}}, "$db": "db"}`)
	uses(`["_id_ 0","a 2"]`)
	client.ok(`{"collMod": "c", "index": {"name": "a", "hidden": true}, "$db": "db"}`)
	client.ok(`{"find": "c", "filter": {"a": 1}, "$db": "db"}`)
	uses(`["_id_ 0","a 2"]`)
	client.ok(`{"collMod": "c", "index": {"name": "a", "hidden": false}, "$db": "db"}`)
	client.ok(`{"find": "c", "filter": {"a": 1}, "$db": "db"}`)
	uses(`["_id_ 0","a 3"]`)
}

func TestUsesOfIndexesBeginAgainAtAStart(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		client.ok(`{"insert": "c", "documents": [{"_id": 1}], "$db": "db", "writeConcern": {"w": 3}}`)
		client.ok(`{"find": "c", "filter": {"_id": 1}, "$db": "db"}`)
		wantUses(t, client, `["_id_ 1"]`)
		rs.Kill(0)
		rs.Restart(0)
		pass(time.Second)
		again := dial(t, rs, 0)
		wantUses(t, again, `["_id_ 0"]`)
		started := again.run(`{"aggregate": "c", "pipeline": [{"$indexStats": {}}], "cursor": {}, "$db": "db", "$readPreference": {"mode": "nearest"}}`).Lookup("cursor", "firstBatch", "0", "accesses", "since").Time()
		if ago := time.Since(started); ago != time.Second {
			t.Errorf("it is counted since %v ago, want that of the start, a second ago", ago)
		}
	})
}

// Of two indexes the one is counted that a trial finds the better. It is tried again when there are twice as many documents.
func TestUsesOfTheBetterIndex(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	client := dial(t, rs, 0)
	client.ok(`{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a"}, {"key": {"b": 1}, "name": "b"}], "$db": "db"}`)
	for _, c := range []struct {
		fields string
		from   int
		to     int
		uses   string
	}{
		{`"_id": %[1]d, "a": 1, "b": %[1]d`, 0, 50, `["_id_ 0","a 0","b 2"]`},
		{`"_id": %[1]d, "a": 0, "b": 7`, 50, 90, `["_id_ 0","a 0","b 4"]`},  // now a is better, which is not tried
		{`"_id": %[1]d, "a": 0, "b": 7`, 90, 200, `["_id_ 0","a 2","b 4"]`}, // and now it is
	} {
		for i := c.from; i < c.to; i++ {
			client.ok(`{"insert": "c", "documents": [{%s}], "$db": "db"}`, fmt.Sprintf(c.fields, i))
		}
		client.ok(`{"find": "c", "filter": {"a": 1, "b": 7}, "$db": "db"}`)
		client.ok(`{"count": "c", "query": {"a": 1, "b": 7}, "$db": "db"}`)
		wantUses(t, client, c.uses)
	}
}
