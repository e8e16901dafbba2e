package mongotest_test

import (
	"context"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// This is the README's example.

func TestIncrementSurvivesAFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a fake clock: the election's ten seconds take milliseconds
		rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
		client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Disconnect(context.Background())
		// The primary dies when a majority has the first update and the client has no answer to it.
		rs.Use("update", mongotest.FaultOnce(mongotest.Fault{After: func() { rs.Kill(rs.Primary()) }}))

		counters := client.Database("app").Collection("counters")
		increment := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
		_, err = counters.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "c"}}, increment, options.UpdateOne().SetUpsert(true))
		if err != nil {
			t.Fatal(err)
		}
		rs.CheckCommands(t, "update", 2) // it was retried, and still
		rs.CheckDocuments(t, "app.counters", bson.D{{Key: "_id", Value: "c"}, {Key: "n", Value: 1}})
	})
}
