package mongo_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// watching runs f with a change stream of the collection, whose pipeline is empty.
func watching(t *testing.T, o *options.ChangeStreamOptionsBuilder, f func(w *world, s *mongo.ChangeStream), opts ...mongotest.Option) {
	t.Helper()
	in(t, nil, func(w *world) {
		w.must(w.client.Database("test").CreateCollection(w.ctx, "c"))
		f(w, w.watch(o))
	}, opts...)
}

// watchingEverywhere is watching on a replica set and on a sharded cluster.
func watchingEverywhere(t *testing.T, o *options.ChangeStreamOptionsBuilder, f func(w *world, s *mongo.ChangeStream)) {
	t.Helper()
	for name, run := range map[string]func() (*mongotest.Deployment, error){"a replica set": replicaSet, "a sharded cluster": sharded(1)} {
		t.Run(name, func(t *testing.T) {
			inside(t, run, nil, func(w *world) {
				w.must(w.client.Database("test").CreateCollection(w.ctx, "c"))
				f(w, w.watch(o))
			})
		})
	}
}

// watch opens a change stream of the collection, which ends with the test.
func (w *world) watch(o *options.ChangeStreamOptionsBuilder) *mongo.ChangeStream {
	w.Helper()
	if o == nil {
		o = options.ChangeStream()
	}
	s, err := w.coll.Watch(w.ctx, mongo.Pipeline{}, o)
	w.must(err)
	return s
}

func (w *world) insert(ids ...int) {
	w.Helper()
	for _, id := range ids {
		_, err := w.coll.InsertOne(w.ctx, doc("_id", id))
		w.must(err)
	}
}

// events checks that the next events are inserts of these ids.
func (w *world) expect(s *mongo.ChangeStream, ids ...int) {
	w.Helper()
	for _, id := range ids {
		if !s.Next(w.ctx) {
			w.Fatalf("no event for %d: %v", id, s.Err())
		}
		if got := s.Current.Lookup("documentKey", "_id").AsInt64(); got != int64(id) {
			w.Fatalf("an event for %d, want %d", got, id)
		}
	}
}

// stageSent returns the $changeStream stage of the latest aggregate command.
func (w *world) stageSent() bson.Raw {
	w.Helper()
	sent := w.started("aggregate")
	return sent[len(sent)-1].Command.Lookup("pipeline", "0", "$changeStream").Document()
}

func idOf(s *mongo.ChangeStream) bson.Raw { return s.Current.Lookup("_id").Document() }

func same(a, b bson.Raw) bool { return a != nil && string(a) == string(b) }

func TestTheTimeoutOfTheClientIsOneForAllRequestsOfNext(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.SetTimeout(5 * time.Second) }, func(w *world) {
		w.insert(0)
		s := w.watch(options.ChangeStream().SetMaxAwaitTime(time.Second))
		start := time.Now()
		if s.Next(w.ctx) || !mongo.IsTimeout(s.Err()) || time.Since(start) > 6*time.Second {
			t.Errorf("after %v: %v", time.Since(start), s.Err())
		}
		for _, ev := range w.started("getMore") {
			if ms := ev.Command.Lookup("maxTimeMS").AsInt64(); ms <= 0 || ms > 1000 {
				t.Errorf("maxTimeMS is %d", ms)
			}
		}
		w.must(s.Close(w.ctx))
		_, err := w.coll.Watch(w.ctx, mongo.Pipeline{}, options.ChangeStream().SetMaxAwaitTime(5*time.Second))
		if err == nil || !strings.Contains(err.Error(), "MaxAwaitTime") {
			t.Errorf("MaxAwaitTime is the timeout: %v", err)
		}
	})
}

func TestAllCommandsOfAStreamHaveOneSession(t *testing.T) {
	watching(t, nil, func(w *world, s *mongo.ChangeStream) {
		w.insert(1)
		w.script("getMore", loseReply)
		w.expect(s, 1)
		w.must(s.Close(w.ctx))
		ids := map[string]bool{}
		for _, name := range []string{"aggregate", "getMore", "killCursors"} {
			for _, ev := range w.started(name) {
				ids[ev.Command.Lookup("lsid").String()] = true
			}
		}
		if len(ids) != 1 {
			t.Errorf("%d sessions", len(ids))
		}
	})
}

func TestAStreamEndsWithAnInvalidateEvent(t *testing.T) {
	watching(t, nil, func(w *world, s *mongo.ChangeStream) {
		w.must(w.coll.Drop(w.ctx))
		var kinds []string
		for s.Next(w.ctx) {
			kinds = append(kinds, s.Current.Lookup("operationType").StringValue())
		}
		if want := []string{"drop", "invalidate"}; !slices.Equal(kinds, want) || s.Err() != nil || s.ID() != 0 {
			t.Errorf("events %v, %v", kinds, s.Err())
		}
		w.must(s.Close(w.ctx))
	})
}

func TestWhatAStreamSends(t *testing.T) {
	for _, c := range []struct {
		name  string
		open  func(w *world) (*mongo.ChangeStream, error)
		where any
		stage d
	}{
		{"a collection", func(w *world) (*mongo.ChangeStream, error) { return w.coll.Watch(w.ctx, mongo.Pipeline{}) }, "c", d{}},
		{"a database", func(w *world) (*mongo.ChangeStream, error) {
			return w.client.Database("test").Watch(w.ctx, bson.A{}, options.ChangeStream().SetShowExpandedEvents(true))
		}, int32(1), doc("showExpandedEvents", true)},
		{"a deployment", func(w *world) (*mongo.ChangeStream, error) {
			return w.client.Watch(w.ctx, []bson.D{}, options.ChangeStream().SetFullDocumentBeforeChange(options.WhenAvailable))
		}, int32(1), doc("allChangesForCluster", true, "fullDocumentBeforeChange", "whenAvailable")},
		{"custom fields", func(w *world) (*mongo.ChangeStream, error) {
			return w.coll.Watch(w.ctx, bson.A{}, options.ChangeStream().SetCustom(bson.M{"allowDiskUse": true}).
				SetCustomPipeline(bson.M{"showSystemEvents": false}))
		}, "c", doc("showSystemEvents", false)},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.insert(0)
				s, err := c.open(w)
				command := w.started("aggregate")[0].Command
				if got, want := w.stageSent().String(), bsonText(t, c.stage); got != want {
					t.Errorf("the stage is %s, want %s", got, want)
				}
				var where any
				w.must(command.Lookup("aggregate").Unmarshal(&where))
				if where != c.where {
					t.Errorf("it watches %v", where)
				}
				if err != nil {
					checkCode(t, err, -1) // mongotest does not have every field
					return
				}
				w.insert(1)
				w.expect(s, 1)
				var e struct {
					FullDocument bson.D `bson:"fullDocument"`
				}
				if err := s.Decode(&e); err != nil || bsonText(t, e.FullDocument) != bsonText(t, doc("_id", 1)) {
					t.Errorf("the document is %v, %v", e.FullDocument, err)
				}
				w.must(s.Close(w.ctx))
				if s.Next(w.ctx) || s.TryNext(w.ctx) || s.ID() != 0 {
					t.Error("the stream goes on after Close")
				}
			})
		})
	}
}

// Prose test 11, if the server has seen more than the last event of the batch.
func TestTheTokenAfterABatchIsNewerThanItsLastEvent(t *testing.T) {
	watching(t, nil, func(w *world, s *mongo.ChangeStream) {
		w.insert(1)
		_, err := w.client.Database("test").Collection("other").InsertOne(w.ctx, d{})
		w.must(err)
		w.expect(s, 1)
		if s.ResumeToken() == nil || same(s.ResumeToken(), idOf(s)) {
			t.Errorf("the token is %v, that of the event", s.ResumeToken())
		}
		w.must(s.Close(w.ctx))
	})
}

func TestAStreamReturnsItsSessionWhenItEndsAndWhenItIsClosed(t *testing.T) {
	watching(t, nil, func(w *world, s *mongo.ChangeStream) {
		w.must(s.Close(w.ctx))
		if n := w.client.NumberSessionsInProgress(); n != 0 {
			t.Errorf("after Close %d sessions are in progress", n)
		}
	})
	watching(t, nil, func(w *world, s *mongo.ChangeStream) {
		w.must(w.coll.Drop(w.ctx))
		for s.Next(w.ctx) {
		}
		if n := w.client.NumberSessionsInProgress(); n != 0 {
			t.Errorf("after the last event %d sessions are in progress", n)
		}
	})
}

// A listener may ask for the id of the cursor: it is the same before, during and after a request for events.
func TestTheIDOfAStreamIsKnownWhileItAsksForEvents(t *testing.T) {
	var stream *mongo.ChangeStream
	var during []int64
	monitor := &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		if e.CommandName == "getMore" {
			during = append(during, stream.ID())
		}
	}}
	in(t, func(o *options.ClientOptions) { o.SetMonitor(monitor) }, func(w *world) {
		w.must(w.client.Database("test").CreateCollection(w.ctx, "c"))
		stream = w.watch(nil)
		id := stream.ID()
		if stream.TryNext(w.ctx) || id == 0 || !slices.Equal(during, []int64{id}) || stream.ID() != id {
			t.Errorf("the id is %d, then %v, then %d: %v", id, during, stream.ID(), stream.Err())
		}
	})
}
