package mongotest_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// TestIncrementSurvivesALostReply is the README's example.
func TestIncrementSurvivesALostReply(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3)
	client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(t.Context())
	rs.Use("update", mongotest.Once(mongotest.Fault{LoseReply: true}))
	c := client.Database("test").Collection("c")
	_, err = c.UpdateOne(t.Context(), bson.M{"_id": 1}, bson.M{"$inc": bson.M{"n": 1}}, options.UpdateOne().SetUpsert(true))
	if err != nil {
		t.Fatal(err)
	}
	if n := rs.ReadAll("test.c")[0].Lookup("n").AsInt64(); n != 1 {
		t.Errorf("n = %d, want 1", n)
	}
}
