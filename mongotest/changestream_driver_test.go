package mongotest_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// TestOfficialDriverResumes lets the official driver watch what a writer inserts while something goes wrong: it must be told of
// every insert, in order, and of none twice.
func TestOfficialDriverResumes(t *testing.T) {
	failing := func(data string) func(*testing.T, *mongotest.Deployment) {
		return func(t *testing.T, rs *mongotest.Deployment) {
			dial(t, rs, rs.Primary()).ok(`{"configureFailPoint": "failGetMoreAfterCursorCheckout", "mode": {"times": 2}, "data": %s, "$db": "admin"}`, data)
		}
	}
	for _, c := range []struct {
		name    string
		goWrong func(t *testing.T, rs *mongotest.Deployment)
		resumes bool
	}{
		{"nothing", func(*testing.T, *mongotest.Deployment) {}, false},
		{"the primary dies", func(_ *testing.T, rs *mongotest.Deployment) { rs.Kill(rs.Primary()) }, true},
		{"the primary dies and comes back", func(_ *testing.T, rs *mongotest.Deployment) {
			dead := rs.Primary()
			rs.Kill(dead)
			pass(3 * time.Second)
			rs.Restart(dead)
		}, true},
		{"the primary steps down, and keeps its cursors", func(t *testing.T, rs *mongotest.Deployment) { must[any](t)(nil, rs.StepDown()) }, false},
		{"a getMore fails", failing(`{"errorCode": 11602}`), true},
		{"a cursor is gone", failing(`{"errorCode": 43}`), true},
		{"replies are lost", func(_ *testing.T, rs *mongotest.Deployment) {
			rs.Use("getMore", mongotest.Times(2, mongotest.Fault{LoseReply: true}))
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
				defer cancel()
				var streams atomic.Int32 // one that its server's end interrupts may be counted late
				defer rs.Use("aggregate", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
					streams.Add(1)
					return mongotest.Fault{}
				}))()
				client := connect(t, rs)
				db := client.Database("db")
				s := must[*mongo.ChangeStream](t)(db.Watch(ctx, mongo.Pipeline{}, options.ChangeStream()))
				defer s.Close(ctx)
				go insertAll(ctx, db.Collection("c"), func() { c.goWrong(t, rs) })
				var got, want []int32
				for i := range inserts {
					want = append(want, int32(i))
					if !s.Next(ctx) {
						t.Fatalf("after %d events: %v", len(got), s.Err())
					}
					got = append(got, s.Current.Lookup("documentKey", "_id").Int32())
				}
				if !slices.Equal(got, want) {
					t.Errorf("the events are of %v", got)
				}
				if s.TryNext(ctx) {
					t.Errorf("there is one more event: %s", s.Current)
				}
				if resumed := streams.Load() > 1; resumed != c.resumes {
					t.Errorf("the driver opened %d streams; it should have resumed: %v", streams.Load(), c.resumes)
				}
			})
		})
	}
}

const inserts = 60

// insertAll inserts documents whose _id counts up, each until it is there; halfway through something goes wrong.
func insertAll(ctx context.Context, c *mongo.Collection, goWrong func()) {
	for i := range inserts {
		if i == inserts/2 {
			goWrong()
		}
		for ctx.Err() == nil {
			_, err := c.InsertOne(ctx, j(`{"_id": %d}`, i))
			if err == nil || mongo.IsDuplicateKeyError(err) {
				break
			}
			pass(100 * time.Millisecond)
		}
		pass(time.Duration(i%4) * 50 * time.Millisecond)
	}
}
