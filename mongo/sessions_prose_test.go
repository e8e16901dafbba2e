package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// These are the prose tests of the Driver Sessions specification. Numbers 1, 4, 5, 6, 18, 19 and 21 are in session_test.go;
// 7, 12, 13, 16 and 17 are for clients that fork, or log in on a connection that is in use. The snapshot time can only be
// read here (22, 23).

// Number 2.
func TestTheSessionPoolIsLIFO(t *testing.T) {
	in(t, nil, func(w *world) {
		a, _ := w.session()
		b, _ := w.session()
		a.EndSession(w.ctx)
		b.EndSession(w.ctx)
		c, _ := w.session()
		d, _ := w.session()
		w.check("the third session", c.ID().String(), b.ID().String())
		w.check("the fourth session", d.ID().String(), a.ID().String())
		c.EndSession(w.ctx)
		d.EndSession(w.ctx)
	})
}

// replies is a monitor that keeps the last reply.
func (w *world) replies(o *options.ClientOptions, last *bson.Raw) {
	monitor := *o.Monitor
	succeeded := monitor.Succeeded
	monitor.Succeeded = func(ctx context.Context, ev *event.CommandSucceededEvent) {
		*last = ev.Reply
		succeeded(ctx, ev)
	}
	o.SetMonitor(&monitor)
}

// Number 3, and number 12 of Causal Consistency.
func TestTheClusterTimeOfAReplyIsSentWithTheNextCommand(t *testing.T) {
	for name, operation := range operations {
		t.Run(name, func(t *testing.T) {
			var last bson.Raw
			in(t, func(o *options.ClientOptions) { (*world)(nil).replies(o, &last) }, func(w *world) {
				w.must(operation.do(w.ctx, w.coll))
				for range 2 {
					want := last.Lookup("$clusterTime").String()
					w.must(operation.do(w.ctx, w.coll))
					sent := w.started(operation.command)
					w.check("the $clusterTime", sent[len(sent)-1].Command.Lookup("$clusterTime").String(), want)
				}
			})
		})
	}
}

// Numbers 8 and 9.
func TestACursorAtItsEndReturnsItsSession(t *testing.T) {
	for _, c := range []struct{ documents, batch, read int }{{2, 0, 1}, {5, 3, 4}} {
		in(t, nil, func(w *world) {
			for i := range c.documents {
				w.must(w.set.Insert("test.c", doc("_id", i)))
			}
			cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(int32(c.batch)))
			w.must(err)
			for range c.read {
				if !cursor.Next(w.ctx) {
					t.Fatal(cursor.Err())
				}
			}
			if n := w.client.NumberSessionsInProgress(); n != 0 {
				t.Errorf("after %d of %d documents %d sessions are in progress", c.read, c.documents, n)
			}
		})
	}
}

// Number 11.
func TestFindAndGetMoreHaveOneSession(t *testing.T) {
	for topology, run := range map[string]func() (*mongotest.Deployment, error){
		"a replica set": replicaSet, "a standalone": standalone, "two mongos": sharded(2),
	} {
		for _, rp := range []*readpref.ReadPref{
			readpref.Primary(), readpref.PrimaryPreferred(), readpref.Secondary(), readpref.SecondaryPreferred(), readpref.Nearest(),
		} {
			t.Run(topology+" "+rp.Mode().String(), func(t *testing.T) {
				inside(t, run, func(o *options.ClientOptions) { o.SetReadPreference(rp) }, func(w *world) {
					w.must(w.set.Insert("test.c", doc("_id", 1), doc("_id", 2), doc("_id", 3)))
					w.pass(time.Second)
					cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(2))
					w.must(err)
					for range 3 {
						if !cursor.Next(w.ctx) {
							t.Fatal(cursor.Err())
						}
					}
					w.must(cursor.Close(w.ctx))
					find, more := w.lsids("find"), w.lsids("getMore")
					if len(more) != 1 || find[0] != more[0] || find[0] == "" {
						t.Errorf("the sessions are %v and %v", find, more)
					}
				})
			})
		}
	}
}

// Number 14: fewer sessions than operations, because they wait for the only connection.
func TestAnOperationTakesItsSessionAfterTheCheckout(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.SetMaxPoolSize(1) }, func(w *world) {
		w.seed()
		do := func(operation func(context.Context, *mongo.Collection) error) {
			if err := operation(w.ctx, w.coll); err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
				t.Error(err)
			}
		}
		for range 5 {
			w.forget()
			var all sync.WaitGroup
			for _, operation := range operations {
				all.Go(func() { do(operation.do) })
			}
			for _, write := range writes {
				all.Go(func() { do(write.do) })
			}
			all.Wait()
			sessions := make(map[string]bool)
			for _, ev := range w.started("") {
				sessions[ev.Command.Lookup("lsid").String()] = true
			}
			if len(sessions) >= len(operations)+len(writes) || len(sessions) == 0 {
				t.Errorf("%d sessions for %d operations", len(sessions), len(operations)+len(writes))
			}
		}
	})
}

// Number 20.
func TestAMonitorDoesNotGossipTheClusterTime(t *testing.T) {
	in(t, nil, func(w *world) {
		direct, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + w.set.Addr(w.set.Primary())).SetDirect(true).
			SetDialer(w.set.Dialer()).SetHeartbeatInterval(500 * time.Millisecond).SetMonitor(w.monitor()))
		w.must(err)
		defer direct.Disconnect(w.ctx)
		ping := func() bson.Raw {
			reply, err := direct.Database("admin").RunCommand(w.ctx, doc("ping", 1)).Raw()
			w.must(err)
			return reply
		}
		want := ping().Lookup("$clusterTime").String()
		var gossip atomic.Int32
		w.set.Use("hello", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
			if _, err := r.Body.LookupErr("$clusterTime"); err == nil {
				gossip.Add(1)
			}
			return mongotest.Fault{}
		}))
		w.must(insertOne(w.ctx, w.coll))
		w.pass(5 * time.Second)
		w.forget()
		ping()
		w.check("the $clusterTime", w.started("ping")[0].Command.Lookup("$clusterTime").String(), want)
		if n := gossip.Load(); n != 0 {
			t.Errorf("%d hellos have a $clusterTime", n)
		}
	})
}

// The prose tests 2 to 9 of Causal Consistency. The operations are those of a session, each after each.
func TestEveryOperationInACausallyConsistentSessionFollowsTheOneBefore(t *testing.T) {
	after := func(ev *event.CommandStartedEvent) string {
		if v, err := ev.Command.LookupErr("readConcern", "afterClusterTime"); err == nil {
			return v.String()
		}
		return ""
	}
	kinds := maps.Clone(operations)
	delete(kinds, "a command") // it has no read concern
	kinds["a write that fails"] = struct {
		command string
		do      func(ctx context.Context, coll *mongo.Collection) error
	}{"insert", func(ctx context.Context, coll *mongo.Collection) error {
		if _, err := coll.InsertOne(ctx, doc("_id", 1)); !mongo.IsDuplicateKeyError(err) {
			return fmt.Errorf("want a duplicate key, got %w", err)
		}
		return nil
	}}
	for firstName, first := range kinds {
		for secondName, second := range kinds {
			t.Run(firstName+", then "+secondName, func(t *testing.T) {
				var last bson.Raw
				in(t, func(o *options.ClientOptions) { (*world)(nil).replies(o, &last) }, func(w *world) {
					w.must(w.set.Insert("test.c", doc("_id", 1)))
					for _, causal := range []bool{true, false} {
						w.forget()
						s, ctx := w.session(options.Session().SetCausalConsistency(causal))
						w.must(first.do(ctx, w.coll))
						w.check("the afterClusterTime of the first", after(w.started(first.command)[0]), "")
						seconds, counter := last.Lookup("operationTime").Timestamp()
						at := bson.Timestamp{T: seconds, I: counter}
						if *s.OperationTime() != at {
							t.Errorf("the session's operation time is %v, that of the reply %v", s.OperationTime(), at)
						}
						w.must(second.do(ctx, w.coll))
						want := ""
						if causal {
							want = fmt.Sprintf(`{"$timestamp":{"t":%d,"i":%d}}`, at.T, at.I)
						}
						sent := w.started(second.command)
						w.check("the afterClusterTime of the second", after(sent[len(sent)-1]), want)
						if _, err := sent[len(sent)-1].Command.LookupErr("readConcern", "level"); err == nil {
							t.Error("the read concern has a level")
						}
						s.EndSession(w.ctx)
					}
				})
			})
		}
	}
}

// Numbers 7 and 11 of Causal Consistency.
func TestAStandaloneGetsNoTimes(t *testing.T) {
	inside(t, standalone, nil, func(w *world) {
		s, ctx := w.session()
		defer s.EndSession(w.ctx)
		w.must(s.AdvanceOperationTime(&bson.Timestamp{T: 5}))
		for _, operation := range operations {
			w.must(operation.do(ctx, w.coll))
		}
		for _, ev := range w.started("") {
			w.check(ev.CommandName, fieldsOf(ev, "readConcern", "$clusterTime"), "")
		}
	})
}
