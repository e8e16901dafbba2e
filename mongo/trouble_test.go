package mongo_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// The end of the caller's context shows nothing about the server, so it is no overload.
func TestACallerThatEndsWhileItsConnectionIsMadeGetsNoLabels(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(context.Context) (context.Context, context.CancelFunc)
		want error
	}{
		{"cancelled", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(50*time.Millisecond, cancel)
			return ctx, cancel
		}, context.Canceled},
		{"past its deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 50*time.Millisecond)
		}, context.DeadlineExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.seed()
				w.disconnected()
				var greeted atomic.Int64
				w.greet(func(int) mongotest.Fault {
					greeted.Add(1)
					return mongotest.Fault{LoseRequest: true, Silent: true}
				})
				ctx, cancel := c.end(w.ctx)
				defer cancel()
				began := time.Now()
				err := writes[2].do(ctx, w.coll)
				if !errors.Is(err, c.want) || time.Since(began) != 50*time.Millisecond || greeted.Load() != 1 {
					t.Errorf("after %v and %d handshakes: %v", time.Since(began), greeted.Load(), err)
				}
				if got := labels(err, "NetworkError", "SystemOverloadedError", "RetryableError", "RetryableWriteError"); len(got) > 0 {
					t.Errorf("the error has the labels %v", got)
				}
			})
		})
	}
}

// Client-Side Operations Timeout: the minimum of the recent round trips counts, not the average.
func TestOneSlowHelloFailsNoOperation(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		w.pass(30 * time.Second)
		var slow atomic.Bool
		primary := w.set.Primary()
		w.heal = w.set.Use("hello", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
			if r.Member != primary || slow.Swap(true) {
				return mongotest.Fault{}
			}
			return mongotest.Fault{Delay: 5 * time.Second}
		}))
		for range 100 {
			ctx, cancel := context.WithTimeout(w.ctx, 200*time.Millisecond)
			if err := w.coll.FindOne(ctx, doc("_id", 1)).Err(); err != nil {
				t.Fatal(err)
			}
			cancel()
			w.pass(time.Second)
		}
	})
}

// The backoff paces the retries of an overload. They do not wait for the topology too.
func TestTheThirdAttemptOfAnOverloadWaitsForItsBackoffOnly(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		w.pass(2 * time.Second)
		n := 0
		w.heal = w.set.Use("find", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			if n++; n > 2 {
				return next(r)
			}
			return mongotest.NewReply(doc(
				"ok", 0, "code", 462, "errmsg", "overloaded", "baseBackoffMS", 1,
				"errorLabels", bson.A{"SystemOverloadedError", "RetryableError"},
			))
		})
		ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
		defer cancel()
		began := time.Now()
		w.must(w.coll.FindOne(ctx, doc("_id", 1)).Err())
		if took := time.Since(began); n != 3 || took > 10*time.Millisecond {
			t.Errorf("%d attempts took %v", n, took)
		}
	})
}

// The primary dies just after its check, so that the next check is not allowed for half a second.
func TestARetryAfterARefusedDialWaitsUntilTheServerWasChecked(t *testing.T) {
	in(t, nil, func(w *world) {
		w.pass(100 * time.Millisecond) // the monitors have found the servers
		w.set.Kill(w.set.Primary())
		if _, err := w.coll.InsertOne(w.ctx, doc("_id", 1)); err != nil {
			t.Error(err)
		}
	}, mongotest.ElectionTimeout(time.Second))
}

// The check that followed a refused dial paces one retry only.
func TestTheRetriesAfterARefusedDialAreLimitedToo(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.SetMaxAdaptiveRetries(10_000) }, func(w *world) {
		w.pass(time.Second)
		w.script("find", slices.Repeat([]mongotest.Fault{refuse(134)}, 10_000)...)
		w.greet(func(n int) mongotest.Fault { return mongotest.Fault{LoseRequest: n == 1} })
		ctx, cancel := context.WithTimeout(w.ctx, 10*time.Second)
		defer cancel()
		err := w.coll.FindOne(ctx, doc("_id", 1)).Err()
		if n := len(w.started("find")); n < 10 || n > 30 {
			t.Errorf("%d attempts: %v", n, err)
		}
	})
}

// The monitor's check hangs, so its result cannot be awaited.
func TestARetryDoesNotWaitForACheckThatHangs(t *testing.T) {
	in(t, nil, func(w *world) {
		w.pass(time.Second) // the monitors have found the servers
		var handshakes atomic.Int64
		w.heal = w.set.Use("hello", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
			if _, err := r.Body.LookupErr("backpressure"); err != nil {
				return mongotest.Fault{LoseRequest: true, Silent: true}
			}
			handshakes.Add(1)
			return mongotest.Fault{LoseRequest: true}
		}))
		began := time.Now()
		err := w.coll.FindOne(w.ctx, doc("_id", 1)).Err()
		n := handshakes.Load()
		if took := time.Since(began); !mongo.IsNetworkError(err) || n < 2 || took > time.Duration(n)*1500*time.Millisecond {
			t.Errorf("after %v and %d handshakes: %v", took, n, err)
		}
	})
}

// The check that a refused dial requests may end before the operation hears of the refused dial. The retry does not wait
// for another one.
func TestARetryAfterARefusedDialWaitsForOneCheck(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		w.disconnected()
		old := w.set.Primary()
		w.onPool = func(ev *event.PoolEvent) {
			if ev.Type == event.ConnectionClosed && ev.Address == w.set.Addr(old) {
				w.pass(100 * time.Millisecond)
			}
		}
		w.set.Kill(old)
		w.pass(3 * time.Second) // a new primary is elected, and the monitors may check at once
		began := time.Now()
		_, err := w.coll.InsertOne(w.ctx, doc("_id", 2))
		if took := time.Since(began); err != nil || took >= 500*time.Millisecond {
			t.Errorf("after %v: %v", took, err)
		}
	}, mongotest.ElectionTimeout(time.Second))
}
