package mongotest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

func TestElectionOnTheFakeClock(t *testing.T) {
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		rs, err := mongotest.Run(mongotest.InMemory(), mongotest.Latency(time.Millisecond, 3*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		client := must[*mongo.Client](t)(mongo.Connect(options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer())))
		c := client.Database("test").Collection("c")
		must[*mongo.InsertOneResult](t)(c.InsertOne(ctx, j(`{"_id": 1, "n": 0}`)))
		start := time.Now()
		rs.Kill(0)
		must[*mongo.UpdateResult](t)(c.UpdateOne(ctx, j(`{"_id": 1}`), j(`{"$inc": {"n": 1}}`)))
		if took := time.Since(start); took < 10*time.Second || took > 12*time.Second {
			t.Errorf("the update took %v of the fake clock, want little more than the election timeout of 10s", took)
		}
		rs.Restart(0)
		if err := rs.WaitIdle(ctx); err != nil {
			t.Error(err)
		}
		if n := rs.ReadAll("test.c")[0].Lookup("n").AsInt64(); n != 1 {
			t.Errorf("n = %d, want 1", n)
		}
		if err := client.Disconnect(ctx); err != nil {
			t.Error(err)
		}
		if err := rs.Close(); err != nil {
			t.Error(err)
		}
	})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v of real time", took)
	}
}
