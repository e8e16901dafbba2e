package mongotest_test

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/mongotest"
)

func TestElectionOnTheFakeClock(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		ctx := context.Background()
		c := connect(t, rs).Database("test").Collection("c")
		must[*mongo.InsertOneResult](t)(c.InsertOne(ctx, j(`{"_id": 1, "n": 0}`)))
		start := time.Now()
		rs.Kill(0)
		pass(time.Second) // the driver does not retry what its monitor's discovery interrupts
		must[*mongo.UpdateResult](t)(c.UpdateOne(ctx, j(`{"_id": 1}`), j(`{"$inc": {"n": 1}}`)))
		if took := time.Since(start); took < 10*time.Second || took > 12*time.Second {
			t.Errorf("the update took %v of the fake clock, want little more than the election timeout of 10s", took)
		}
		rs.Restart(0)
		must[any](t)(nil, rs.WaitIdle(ctx))
		if n := rs.ReadAll("test.c")[0].Lookup("n").AsInt64(); n != 1 {
			t.Errorf("n = %d, want 1", n)
		}
	}, mongotest.Latency(time.Millisecond, 3*time.Millisecond))
}
