package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

func TestDisconnectDuringAnOperation(t *testing.T) {
	for _, c := range []struct {
		name    string
		trouble func(w *world)
		check   func(err error) bool
	}{
		{
			"that selects a server: ErrClientDisconnected",
			func(w *world) {
				w.set.Partition([]int{0}, []int{1}, []int{2})
				w.set.Isolate(0)
				w.set.Isolate(1)
				w.set.Isolate(2)
			},
			func(err error) bool { return err == mongo.ErrClientDisconnected }, //nolint:errorlint // programs compare it so
		},
		{
			"that selects a server for a retry: the error of the attempt before",
			func(w *world) {
				w.script("find", mongotest.Fault{Before: func() {
					for i := range w.set.Members() {
						w.set.Kill(i)
					}
				}, LoseRequest: true})
			},
			func(err error) bool {
				var history *retry.Error
				return mongo.IsNetworkError(err) && errors.As(err, &history)
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(o *options.ClientOptions) { o.SetServerSelectionTimeout(time.Minute) }, func(w *world) {
				c.trouble(w)
				second, err := mongo.Connect(options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer()))
				w.must(err)
				time.AfterFunc(time.Second, func() { _ = second.Disconnect(w.ctx) })
				began := time.Now()
				err = second.Database("test").Collection("c").FindOne(w.ctx, d{}).Err()
				if took := time.Since(began); !c.check(err) || took > 2*time.Second {
					t.Errorf("after %v: %v", took, err)
				}
			})
		})
	}
}

// URI Options, "connectTimeoutMS" and "serverSelectionTimeoutMS": 0 means no timeout.
func TestATimeoutOfZeroIsNone(t *testing.T) {
	const long = 10 * time.Minute
	t.Run("serverSelectionTimeoutMS", func(t *testing.T) {
		in(t, func(o *options.ClientOptions) { o.ApplyURI(o.GetURI() + "&serverSelectionTimeoutMS=0") }, func(w *world) {
			for i := range w.set.Members() {
				w.set.Kill(i)
			}
			ctx, cancel := context.WithTimeout(w.ctx, long)
			defer cancel()
			began := time.Now()
			if err := findOneIn(ctx, w); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != long {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		})
	})
	t.Run("connectTimeoutMS", func(t *testing.T) {
		in(t, func(o *options.ClientOptions) { o.ApplyURI(o.GetURI() + "&connectTimeoutMS=0") }, func(w *world) {
			w.pass(time.Second) // the monitors have made their handshakes
			w.set.Use("hello", mongotest.While(func(r *mongotest.Request) bool {
				_, err := r.Body.LookupErr("client") // it is a handshake
				return err == nil
			}, mongotest.Fault{LoseRequest: true, Silent: true}))
			ctx, cancel := context.WithTimeout(w.ctx, long)
			defer cancel()
			_ = findOneIn(ctx, w)
			w.mu.Lock()
			defer w.mu.Unlock()
			created := 0
			for _, ev := range w.pool {
				if ev.Type == event.ConnectionCreated {
					created++
				}
			}
			if created != 1 {
				t.Errorf("%d connections were begun, want 1, which has no time limit", created)
			}
		})
	})
}

func findOneIn(ctx context.Context, w *world) error { return w.coll.FindOne(ctx, d{}).Err() }

// CRUD specification: the hint of an unacknowledged write is an error of the client for servers that ignore a hint.
func TestTheHintOfAnUnacknowledgedWrite(t *testing.T) {
	for _, version := range []string{"3.6", "4.0", "4.2", "4.4", "8.0"} {
		for name, c := range map[string]struct {
			do    func(*mongo.Collection, context.Context) error
			since string
		}{
			"deleteOne": {func(coll *mongo.Collection, ctx context.Context) error {
				_, err := coll.DeleteOne(ctx, d{}, options.DeleteOne().SetHint("_id_"))
				return err
			}, "4.4"},
			"updateOne": {func(coll *mongo.Collection, ctx context.Context) error {
				_, err := coll.UpdateOne(ctx, d{}, doc("$set", doc("a", 1)), options.UpdateOne().SetHint("_id_"))
				return err
			}, "4.2"},
			"replaceOne": {func(coll *mongo.Collection, ctx context.Context) error {
				_, err := coll.ReplaceOne(ctx, d{}, d{}, options.Replace().SetHint("_id_"))
				return err
			}, "4.2"},
			"findOneAndUpdate": {func(coll *mongo.Collection, ctx context.Context) error {
				err := coll.FindOneAndUpdate(ctx, d{}, doc("$set", doc("a", 1)), options.FindOneAndUpdate().SetHint("_id_")).Err()
				if errors.Is(err, mongo.ErrNoDocuments) { // an unacknowledged one returns no document
					return nil
				}
				return err
			}, "4.4"},
		} {
			t.Run(fmt.Sprintf("%s on %s", name, version), func(t *testing.T) {
				in(t, nil, func(w *world) {
					coll := w.client.Database("test").Collection("c", options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
					err := c.do(coll, w.ctx)
					if refused := version < c.since; refused != (err != nil) || refused != (len(w.started("")) == 0) {
						t.Errorf("%d commands were sent: %v", len(w.started("")), err)
					}
				}, mongotest.Version(version))
			})
		}
	}
}
