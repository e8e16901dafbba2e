package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
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

// A server that has not failed in this operation is asked at once, also by the third attempt and later ones.
func TestAttemptsAtOtherServersAreNotPaced(t *testing.T) {
	const ms = time.Millisecond
	errs := 0
	members := func() (*mongotest.Deployment, error) { return mongotest.RunReplicaSet(5, mongotest.InMemory()) }
	for _, c := range []struct {
		name    string
		run     func() (*mongotest.Deployment, error)
		command string
		failing int // so many servers fail, those that are asked first
		fault   mongotest.Fault
		last    time.Duration // when the attempt that succeeds comes
	}{
		{"a read, two of three mongos cannot reach the shard", sharded(3), "find", 2, refuse(6), 0},
		{"a write, two of three mongos cannot reach the shard", sharded(3), "insert", 2, refuse(6, "RetryableWriteError"), 0},
		{"a read, no mongos can", sharded(3), "find", 3, refuse(6), 500 * ms},
		{"two of five members cannot reach others", members, "find", 2, refuse(7), 0},
		{"four of five members cannot reach others", members, "find", 4, refuse(7), 0},
		{"two of five members lose the reply", members, "find", 2, loseReply, 0},
		{"two of five members shut down", members, "find", 2, refuse(11600), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			nearest := func(o *options.ClientOptions) {
				o.SetReadPreference(readpref.Nearest()).SetLocalThreshold(10 * time.Second)
			}
			for range 12 {
				inside(t, c.run, nearest, func(w *world) {
					w.pass(2 * time.Second) // every server is discovered, and the monitors rest
					failing := make(map[string]bool)
					var first, last time.Time
					w.heal = w.set.Use(c.command, mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
						if r.Mongos < 0 && w.set.Mongos() > 0 {
							return mongotest.Fault{} // a mongos asks a member
						}
						if last = time.Now(); first.IsZero() {
							first = last
						}
						server := fmt.Sprint(r.Member, r.Mongos)
						if len(failing) < c.failing {
							failing[server] = true
						}
						if failing[server] && (c.last == 0 || last.Sub(first) < c.last) {
							return c.fault
						}
						return mongotest.Fault{}
					}))
					ctx, cancel := context.WithTimeout(w.ctx, c.last+400*ms)
					defer cancel()
					var err error
					if c.command == "find" {
						err = w.coll.FindOne(ctx, doc("_id", 1)).Err()
					} else {
						_, err = w.coll.InsertOne(ctx, doc("n", 1))
					}
					if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
						errs++
						t.Error(err)
					}
					if got := last.Sub(first); got != c.last {
						t.Errorf("the last attempt came after %v, want %v", got, c.last)
					}
				})
			}
		})
	}
	fmt.Printf("figure paced-other-server-errors %d\n", errs)
}

// A server that refused for overload has failed too: the third attempt takes the one that has not. Each selection is in the log.
func TestAnOverloadedServerIsNotTakenForOneThatHasNotFailed(t *testing.T) {
	log, configure := logging(options.LogLevelDebug)
	for range 12 {
		inside(t, sharded(3), configure, func(w *world) {
			w.pass(2 * time.Second)
			var asked []int
			w.heal = w.set.Use("find", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
				if r.Mongos < 0 {
					return mongotest.Fault{} // a mongos asks a member
				}
				switch asked = append(asked, r.Mongos); len(asked) {
				case 1:
					return refuse(462, "SystemOverloadedError", "RetryableError")
				case 2:
					return refuse(6)
				}
				return mongotest.Fault{}
			}))
			before := len(log.with("Server selection succeeded"))
			ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
			defer cancel()
			if err := w.coll.FindOne(ctx, doc("_id", 1)).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
				t.Error(err)
			}
			if slices.Sort(asked); !slices.Equal(asked, []int{0, 1, 2}) {
				t.Errorf("the mongos %v were asked", asked)
			}
			if n := len(log.with("Server selection succeeded")) - before; n != 3 {
				t.Errorf("%d selections are in the log", n)
			}
		})
	}
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
