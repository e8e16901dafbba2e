package mongo_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/tag"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// The tests of this file check the sentences of "Requests", "Auto-retry" and "Errors" in the Read Preferences document.

// discovered waits until the client knows all members.
func (w *world) discovered() {
	w.seed()
	w.pass(time.Second)
	w.forget()
}

// with returns the collection with a read preference.
func (w *world) with(rp *readpref.ReadPref) *mongo.Collection {
	return w.client.Database("test").Collection("c", options.Collection().SetReadPreference(rp))
}

// readOne reads once and returns the error.
func readOne(ctx context.Context, coll *mongo.Collection) error {
	return coll.FindOne(ctx, doc("_id", 1)).Err()
}

// members returns the member of each attempt of a command so far, in order.
func (w *world) members(command string) []int {
	var members []int
	for _, j := range w.set.Journal() {
		if j.Command == command {
			members = append(members, j.Member)
		}
	}
	return members
}

// last returns the member of the latest attempt of a find.
func (w *world) last() int {
	all := w.members("find")
	return all[len(all)-1]
}

func distinctOf(members []int) int {
	return len(slices.Compact(slices.Sorted(slices.Values(members))))
}

// request begins a request that ends with the test's world.
func (w *world) request() context.Context {
	ctx, cancel := mongo.WithRequest(w.ctx)
	w.Cleanup(cancel)
	return ctx
}

func inDC(name string) *readpref.ReadPref {
	return readpref.Nearest(readpref.WithTagSets(tag.Set{{Name: "dc", Value: name}}))
}

func memberInDC(i int, name string) mongotest.Option {
	return mongotest.Member(i, mongotest.Tags(map[string]string{"dc": name}))
}

func TestARequestReadsFromOneMember(t *testing.T) {
	in(t, nil, func(w *world) {
		w.discovered()
		coll, before := w.with(readpref.Nearest()), len(w.members("find"))
		for range 50 {
			w.must(readOne(w.ctx, coll))
		}
		if distinctOf(w.members("find")[before:]) < 2 {
			t.Fatal("without a request all reads went to one member")
		}
		before = len(w.members("find"))
		ctx := w.request()
		for i := range 50 {
			rp := readpref.Nearest() // another pointer, the same preference
			if i%2 == 0 {
				coll = w.with(rp)
			}
			w.must(readOne(ctx, coll))
		}
		if got := w.members("find")[before:]; distinctOf(got) != 1 {
			t.Errorf("the reads went to the members %v", got)
		}
	})
}

func TestAnotherReadPreferenceUnpinsARequest(t *testing.T) {
	in(t, nil, func(w *world) {
		w.discovered()
		ctx := w.request()
		for _, step := range []struct {
			preference *readpref.ReadPref
			want       int
		}{
			{inDC("east"), 1}, {inDC("west"), 2}, {inDC("east"), 1}, {readpref.Primary(), w.set.Primary()}, {inDC("west"), 2},
		} {
			w.must(readOne(ctx, w.with(step.preference)))
			if got := w.last(); got != step.want {
				t.Errorf("%v: member %d, want %d", step.preference, got, step.want)
			}
		}
		moved := false
		for range 30 {
			w.must(readOne(ctx, w.with(readpref.Nearest())))
			first := w.last()
			w.must(readOne(ctx, w.with(readpref.Primary())))
			w.must(readOne(ctx, w.with(readpref.Nearest())))
			moved = moved || w.last() != first
		}
		if !moved {
			t.Error("after another preference the selection did not begin afresh")
		}
	}, memberInDC(1, "east"), memberInDC(2, "west"))
}

func TestAMemberThatGoesDownUnpinsARequest(t *testing.T) {
	in(t, nil, func(w *world) {
		w.discovered()
		ctx, coll := w.request(), w.with(readpref.Secondary())
		w.must(readOne(ctx, coll))
		down := w.last()
		w.set.Kill(down)
		w.must(readOne(ctx, coll))
		next := w.last()
		if next == down || next == w.set.Primary() {
			t.Fatalf("after member %d: member %d", down, next)
		}
		w.set.Restart(down)
		w.pass(30 * time.Second)
		for range 20 {
			w.must(readOne(ctx, coll))
			if got := w.last(); got != next {
				t.Fatalf("the request is pinned to member %d and read from member %d", next, got)
			}
		}
	})
}

func TestANewPrimaryUnpinsAllRequests(t *testing.T) {
	for _, c := range []struct {
		name    string
		happens func(w *world)
		moves   bool
	}{
		{"a new primary", func(w *world) { w.must(w.set.StepDown()) }, true},
		{"nothing", func(*world) {}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.discovered()
				coll := w.with(readpref.Secondary())
				var requests []context.Context
				var pins []int
				for range 60 {
					ctx := w.request()
					w.must(readOne(ctx, coll))
					requests, pins = append(requests, ctx), append(pins, w.last())
				}
				c.happens(w)
				w.pass(30 * time.Second)
				moved := 0
				for i, ctx := range requests {
					w.must(readOne(ctx, coll))
					if pins[i] != w.set.Primary() && w.last() != pins[i] {
						moved++
					}
				}
				if (moved > 0) != c.moves {
					t.Errorf("%d requests read from another member", moved)
				}
			})
		})
	}
}

// The pinned member leaves the latency window, so that no new request would choose it.
func TestAChangeOfRoundTripTimesDoesNotUnpinARequest(t *testing.T) {
	in(t, nil, func(w *world) {
		w.discovered()
		ctx, coll := w.request(), w.with(readpref.Nearest())
		w.must(readOne(ctx, coll))
		pinned := w.last()
		w.heal = w.set.Use("hello", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
			if r.Member != pinned {
				return mongotest.Fault{}
			}
			return mongotest.Fault{Delay: 400 * time.Millisecond}
		}))
		w.pass(2 * time.Minute)
		for range 20 {
			w.must(readOne(w.ctx, coll))
			if w.last() == pinned {
				t.Fatal("the pinned member is still in the latency window")
			}
		}
		w.must(readOne(ctx, coll))
		if got := w.last(); got != pinned {
			t.Errorf("the request is pinned to member %d and read from member %d", pinned, got)
		}
	})
}

func TestAWriteDoesNotUnpinASecondary(t *testing.T) {
	in(t, nil, func(w *world) {
		w.discovered()
		ctx, coll := w.request(), w.with(readpref.Secondary())
		w.must(readOne(ctx, coll))
		pinned := w.last()
		for i := range 20 {
			_, err := coll.InsertOne(ctx, doc("n", i))
			w.must(err)
			w.must(readOne(ctx, coll))
			if got := w.last(); got != pinned {
				t.Fatalf("the request is pinned to member %d and read from member %d", pinned, got)
			}
		}
	})
}

func TestWithoutAMatchingMemberARequestFailsAtOnce(t *testing.T) {
	staleTags := tag.Set{{Name: "dc", Value: "east"}, {Name: "rack", Value: "1"}}
	for want, c := range map[string]struct {
		rp   *readpref.ReadPref
		kill []int
	}{
		"No replica set primary available for query with ReadPreference PRIMARY":     {readpref.Primary(), []int{0, 1}},
		"No replica set secondary available for query with ReadPreference SECONDARY": {readpref.Secondary(), []int{1, 2}},
		"No replica set members available for query":                                 {readpref.Nearest(), []int{0, 1, 2}},
		"No replica set member available for query with ReadPreference SECONDARY_PREFERRED and tags [{dc: east, rack: 1}]": {
			readpref.SecondaryPreferred(readpref.WithTagSets(staleTags)), []int{0, 1},
		},
	} {
		t.Run(want, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.discovered()
				for _, member := range c.kill {
					w.set.Kill(member)
				}
				w.pass(time.Minute)
				commands, began := w.set.Counters(), time.Now()
				err := readOne(w.request(), w.with(c.rp))
				if err == nil || err.Error() != want || !mongo.IsNetworkError(err) {
					t.Errorf("%q", err)
				}
				synctest.Wait()
				if now := w.set.Counters(); time.Since(began) != 0 || !sameCommands(now, commands) {
					t.Errorf("after %v: %v, before: %v", time.Since(began), now, commands)
				}
			}, mongotest.ElectionTimeout(time.Hour), mongotest.Member(0, mongotest.Priority(2)))
		})
	}
}

func sameCommands(a, b mongotest.Counters) bool {
	return len(a.Commands) == len(b.Commands) && a.Commands["hello"] == b.Commands["hello"]
}

func TestBeforeTheFirstDiscoveryARequestWaits(t *testing.T) {
	slow := func() (*mongotest.Deployment, error) {
		set, err := replicaSet()
		if err != nil {
			return nil, err
		}
		set.Use("isMaster", mongotest.Always(mongotest.Fault{Delay: 3 * time.Second})) // before the client connects
		return set, set.Insert("test.c", doc("_id", 1))
	}
	inside(t, slow, nil, func(w *world) {
		began := time.Now()
		w.must(readOne(w.request(), w.with(readpref.Nearest())))
		if time.Since(began) < 3*time.Second {
			t.Errorf("the read took %v", time.Since(began))
		}
	})
}

func TestARequestChangesNothingElsewhere(t *testing.T) {
	for name, run := range map[string]func() (*mongotest.Deployment, error){"standalone": standalone, "sharded": sharded(2)} {
		t.Run(name, func(t *testing.T) {
			inside(t, run, nil, func(w *world) {
				ctx := w.request()
				_, err := w.coll.InsertOne(ctx, doc("_id", 1))
				w.must(err)
				w.pass(time.Second) // until secondaries have it
				w.script("find", loseRequest)
				w.must(readOne(ctx, w.coll))
				w.must(readOne(ctx, w.with(readpref.Nearest())))
				var found bson.M
				w.must(w.coll.FindOne(ctx, doc("_id", 1)).Decode(&found))
			})
		})
	}
}

// A read in a transaction goes where the transaction does, and waits for a primary as without a request. It is no read with
// another read preference that would unpin the request.
func TestAReadInATransactionIsNotTheRequests(t *testing.T) {
	in(t, nil, func(w *world) {
		w.discovered()
		ctx := w.request()
		w.must(readOne(ctx, w.with(readpref.Secondary())))
		pinned := w.last()
		session, err := w.client.StartSession()
		w.must(err)
		defer session.EndSession(w.ctx)
		inside := mongo.NewSessionContext(ctx, session)
		w.must(session.StartTransaction())
		w.must(readOne(inside, w.coll))
		w.must(session.CommitTransaction(w.ctx))
		for range 10 {
			w.must(readOne(ctx, w.with(readpref.Secondary())))
			if got := w.last(); got != pinned {
				t.Fatalf("the request is pinned to member %d and read from member %d", pinned, got)
			}
		}
		w.must(session.StartTransaction())
		w.set.Kill(w.set.Primary())
		synctest.Wait()
		began := time.Now()
		w.must(readOne(inside, w.coll))
		if time.Since(began) == 0 {
			t.Error("there was no time without a primary")
		}
		w.must(session.AbortTransaction(w.ctx))
	}, mongotest.ElectionTimeout(2*time.Second))
}
