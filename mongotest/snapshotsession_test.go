package mongotest_test

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// A driver puts the read concern of a snapshot session into each command of it, as the specification of snapshot sessions says
// (DRIVERS-1819). The real server lets the cursor determine what getMore and killCursors see, whatever their read concern is.
func TestACursorOfASnapshotSessionIsReadToItsEnd(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		client.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}], "$db": "db"}`)
		for _, concern := range []string{`{"level": "snapshot"}`, `{"level": "linearizable"}`, `{"level": "majority"}`, `{"level": "local"}`} {
			find := client.ok(`{"find": "c", "batchSize": 1, "readConcern": {"level": "snapshot"}, "$db": "db"}`)
			client.ok(`{"delete": "c", "deletes": [{"q": {"_id": 3}, "limit": 1}], "$db": "db"}`)
			id := number(find, "cursor", "id")
			more := client.ok(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "batchSize": 1, "readConcern": %s, "$db": "db"}`, id, concern)
			if got := elements(more.Lookup("cursor", "nextBatch")); len(got) != 1 {
				t.Errorf("%s: the second batch is %v", concern, got)
			}
			reply := client.ok(`{"killCursors": "c", "cursors": [{"$numberLong": "%d"}], "readConcern": %s, "$db": "db"}`, id, concern)
			if got := number(reply, "cursorsKilled", "0"); got != id {
				t.Errorf("%s: killCursors is answered %s", concern, reply)
			}
			client.ok(`{"insert": "c", "documents": [{"_id": 3}], "$db": "db"}`)
		}
	})
}

func TestTheOfficialDriverReadsBatchesInASnapshotSession(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := connect(t, rs)
		c := client.Database("db").Collection("c")
		for i := range 5 {
			if _, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: i}}); err != nil {
				t.Fatal(err)
			}
		}
		s, err := client.StartSession(options.Session().SetSnapshot(true))
		if err != nil {
			t.Fatal(err)
		}
		defer s.EndSession(t.Context())
		ctx := mongo.NewSessionContext(t.Context(), s)
		cursor, err := c.Find(ctx, bson.D{}, options.Find().SetBatchSize(2))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.DeleteMany(t.Context(), bson.D{}); err != nil {
			t.Fatal(err)
		}
		var all []bson.D
		if err := cursor.All(ctx, &all); err != nil || len(all) != 5 {
			t.Errorf("the cursor has %s, %v", fmt.Sprint(all), err)
		}
		half, err := c.Find(ctx, bson.D{}, options.Find().SetBatchSize(2))
		if err != nil {
			t.Fatal(err)
		}
		if err := half.Close(ctx); err != nil {
			t.Errorf("the cursor is not closed: %v", err)
		}
	})
}
