package mongo_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// From the third attempt on an operation with a deadline waits for a change of the topology, at most for the monitors'
// shortest interval; the second attempt is immediate.
func TestThePaceOfAttempts(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(ctx context.Context, w *world) error
		code mongotest.Fault
		cmd  string
		want []time.Duration // since the first attempt
	}{
		{
			"a read", func(ctx context.Context, w *world) error { return w.coll.FindOne(ctx, doc("_id", 1)).Err() },
			refuse(6), "find",
			[]time.Duration{0, 0, 500 * time.Millisecond, time.Second, 1500 * time.Millisecond},
		},
		{
			"a write", func(ctx context.Context, w *world) error { return writes[2].do(ctx, w.coll) },
			refuse(1, "RetryableWriteError"), "update",
			[]time.Duration{0, 0, 500 * time.Millisecond, time.Second, 1500 * time.Millisecond},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.seed()
				w.pass(2 * time.Second) // the monitors rest until their next interval
				var at []time.Duration
				var start time.Time
				w.heal = w.set.Use(c.cmd, mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
					if len(at) == 0 {
						start = time.Now()
					}
					if at = append(at, time.Since(start)); len(at) == len(c.want) {
						return mongotest.Fault{}
					}
					return c.code
				}))
				ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
				defer cancel()
				w.must(c.do(ctx, w))
				if !slices.Equal(at, c.want) {
					t.Errorf("attempts at %v, want %v", at, c.want)
				}
			})
		})
	}
}

// After network errors, too, the third attempt waits: here for the monitors' shortest interval, as all members are known.
func TestThePaceOfAttemptsAfterNetworkErrors(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.ApplyURI(o.GetURI() + "&readPreference=nearest") }, func(w *world) {
		w.pass(2 * time.Second) // every member is discovered, and the monitors rest
		var at []time.Time
		w.heal = w.set.Use("find", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
			if at = append(at, time.Now()); len(at) > 2 {
				return mongotest.Fault{}
			}
			return loseReply
		}))
		ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
		defer cancel()
		if err := w.coll.FindOne(ctx, doc("_id", 1)).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
			t.Fatal(err)
		}
		if first, second := at[1].Sub(at[0]), at[2].Sub(at[1]); first != 0 || second != 500*time.Millisecond {
			t.Errorf("the second attempt came after %v, the third after %v", first, second)
		}
	})
}

// The first retry comes after a random part of twice the base: the server's own, or 100 ms.
func TestTheServersBackoffIsObeyed(t *testing.T) {
	for _, c := range []struct {
		name  string
		base  any
		least time.Duration // of the longest of twenty delays
		most  time.Duration
	}{
		{"a base of a second", int64(1000), 500 * time.Millisecond, 2 * time.Second},
		{"a base of a millisecond", 1, 500 * time.Microsecond, 2 * time.Millisecond},
		{"a base of nothing", 0, 50 * time.Millisecond, 200 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			var longest time.Duration
			for range 20 {
				in(t, nil, func(w *world) {
					w.seed()
					n := 0
					w.heal = w.set.Use("find", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
						if n++; n > 1 {
							return next(r)
						}
						return mongotest.NewReply(doc(
							"ok", 0, "code", 462, "errmsg", "overloaded", "baseBackoffMS", c.base,
							"errorLabels", bson.A{"SystemOverloadedError", "RetryableError"},
						))
					})
					start := time.Now()
					w.must(findOne(w))
					longest = max(longest, time.Since(start))
				})
			}
			if longest < c.least || longest > c.most {
				t.Errorf("the longest of twenty took %v, want %v to %v", longest, c.least, c.most)
			}
		})
	}
}

// Client Backpressure: no wait that would pass the deadline is begun.
func TestABackoffPastTheDeadlineIsNotWaited(t *testing.T) {
	for range 20 {
		in(t, nil, func(w *world) {
			w.seed()
			w.heal = w.set.Use("find", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
				return mongotest.NewReply(doc(
					"ok", 0, "code", 462, "errmsg", "overloaded", "baseBackoffMS", 10_000,
					"errorLabels", bson.A{"SystemOverloadedError", "RetryableError"},
				))
			})
			ctx, cancel := context.WithTimeout(w.ctx, 10*time.Millisecond)
			defer cancel()
			start := time.Now()
			err := w.coll.FindOne(ctx, doc("_id", 1)).Err()
			if took := time.Since(start); len(w.started("find")) == 1 && took != 0 {
				t.Errorf("after %v: %v", took, err)
			}
			checkCode(t, err, 462)
		})
	}
}
