package mongo_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

func TestProse1TheStreamTracksTheLastResumeToken(t *testing.T) {
	watchingEverywhere(t, nil, func(w *world, s *mongo.ChangeStream) {
		w.insert(1, 2, 3)
		seen := map[string]bool{}
		for range 3 {
			w.expect(s, len(seen)+1)
			if s.RemainingBatchLength() > 0 && !same(s.ResumeToken(), idOf(s)) {
				w.Errorf("the token is %v, want %v", s.ResumeToken(), idOf(s))
			}
			seen[string(s.ResumeToken())] = true
		}
		if len(seen) != 3 {
			w.Errorf("%d different tokens", len(seen))
		}
		w.must(s.Close(w.ctx))
	})
}

func TestProse2AnEventWithoutAResumeTokenIsAnError(t *testing.T) {
	watchingEverywhere(t, nil, func(w *world, s *mongo.ChangeStream) {
		w.set.Use("getMore", func(_ *mongotest.Request, _ mongotest.Handler) *mongotest.Reply {
			return mongotest.NewReply(doc("ok", 1, "cursor", doc(
				"id", int64(7), "ns", "test.c", "nextBatch", bson.A{doc("operationType", "insert")})))
		})
		if s.Next(w.ctx) || !errors.Is(s.Err(), mongo.ErrMissingResumeToken) {
			w.Errorf("error: %v", s.Err())
		}
		if s.Next(w.ctx) || !errors.Is(s.Err(), mongo.ErrMissingResumeToken) || len(w.started("killCursors")) != 1 {
			w.Errorf("the stream is not closed: %v", s.Err())
		}
		w.must(s.Close(w.ctx))
	})
}

func TestProse3TheStreamResumesWithTheInitialPipelineAndOptions(t *testing.T) {
	for name, fault := range map[string]mongotest.Fault{
		"the request is lost": loseRequest, "the reply is lost": loseReply, "the label of 4.4": resumableError,
		"CursorNotFound": refuse(43),
	} {
		t.Run(name, func(t *testing.T) {
			o := options.ChangeStream().SetFullDocument(options.UpdateLookup).SetBatchSize(5).SetComment("why")
			watchingEverywhere(t, o, func(w *world, s *mongo.ChangeStream) {
				w.insert(1)
				w.expect(s, 1)
				token := slices.Clone(s.ResumeToken())
				w.insert(2)
				w.script("getMore", fault)
				w.forget()
				w.expect(s, 2)
				sent := w.started("aggregate")
				if len(sent) != 1 || sent[0].Command.Lookup("comment").StringValue() != "why" ||
					sent[0].Command.Lookup("cursor", "batchSize").AsInt64() != 5 {
					w.Fatalf("the aggregate commands are %v", sent)
				}
				stage := w.stageSent()
				if stage.Lookup("fullDocument").StringValue() != "updateLookup" || !same(stage.Lookup("resumeAfter").Document(), token) {
					w.Errorf("the stage is %v", stage)
				}
				w.must(s.Close(w.ctx))
			})
		})
	}
}

func TestProse4AnErrorOfTheAggregateCommandIsNotResumed(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.SetRetryReads(false) }, func(w *world) {
		w.script("aggregate", resumableError)
		s, err := w.coll.Watch(w.ctx, mongo.Pipeline{})
		checkCode(t, err, 6)
		if n := len(w.started("aggregate")); s != nil || n != 1 {
			t.Errorf("%d aggregate commands", n)
		}
	})
}

func TestProse4AnErrorOfTheAggregateCommandThatResumesIsReturned(t *testing.T) {
	watchingEverywhere(t, nil, func(w *world, s *mongo.ChangeStream) {
		w.set.Use("getMore", mongotest.Decide(func(*mongotest.Request) mongotest.Fault { return resumableError }))
		w.script("aggregate", refuse(286))
		w.forget()
		if s.Next(w.ctx) {
			w.Error("there is an event")
		}
		checkCode(t, s.Err(), 286)
		if n := len(w.started("aggregate")); n != 1 || s.Next(w.ctx) {
			w.Errorf("%d aggregate commands", n)
		}
		w.must(s.Close(w.ctx))
	})
}

func TestProse6AServerIsSelectedByTheReadPreferenceBeforeTheStreamResumes(t *testing.T) {
	in(t, nil, func(w *world) {
		coll := w.coll.Clone(options.Collection().SetReadPreference(readpref.Secondary()))
		w.insert(1)
		w.must(w.set.WaitIdle(w.ctx))
		s, err := coll.Watch(w.ctx, mongo.Pipeline{})
		w.must(err)
		member := -1
		remove := w.set.Use("getMore", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
			if member < 0 {
				member = r.Member
				go w.set.Kill(member)
				return mongotest.Fault{LoseRequest: true}
			}
			return mongotest.Fault{}
		}))
		defer remove()
		w.insert(2)
		w.forget()
		w.expect(s, 2)
		sent := w.started("aggregate")
		last := sent[len(sent)-1]
		if last.Command.Lookup("$readPreference", "mode").StringValue() != "secondary" {
			t.Errorf("the command is %v", last.Command)
		}
		if address := strings.Split(last.ConnectionID, "[")[0]; address == w.set.Addr(member) || address == w.set.Addr(w.set.Primary()) {
			t.Errorf("the stream resumed on %s", address)
		}
		w.must(s.Close(w.ctx))
	})
}

func TestProse7ACursorWithAnEmptyFirstBatchIsNotClosed(t *testing.T) {
	watchingEverywhere(t, nil, func(w *world, s *mongo.ChangeStream) {
		if s.ID() == 0 || s.RemainingBatchLength() != 0 || len(w.started("killCursors")) != 0 {
			w.Errorf("the id is %d", s.ID())
		}
		w.insert(1)
		w.expect(s, 1)
		w.must(s.Close(w.ctx))
	})
}

func TestProse8AnErrorOfKillCursorsIsIgnoredWhenTheStreamResumes(t *testing.T) {
	for name, fault := range map[string]mongotest.Fault{
		"an error": refuse(13), "a lost reply": loseReply, "silence": {LoseReply: true, Silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			watchingEverywhere(t, nil, func(w *world, s *mongo.ChangeStream) {
				w.insert(1)
				w.script("getMore", resumableError)
				getMores := w.heal
				kills := w.set.Use("killCursors", mongotest.Decide(func(*mongotest.Request) mongotest.Fault { return fault }))
				start := time.Now()
				w.expect(s, 1)
				getMores()
				kills()
				if took := time.Since(start); len(w.started("killCursors")) == 0 || took > time.Second {
					w.Errorf("%d killCursors, %v", len(w.started("killCursors")), took)
				}
				w.must(s.Close(w.ctx))
			})
		})
	}
}

func TestProse11TheTokenAfterABatchIsItsPostBatchResumeToken(t *testing.T) {
	watchingEverywhere(t, nil, func(w *world, s *mongo.ChangeStream) {
		var latest bson.Raw
		w.set.Use("getMore", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			reply := next(r)
			latest = slices.Clone(reply.Body.Lookup("cursor", "postBatchResumeToken").Document())
			return reply
		})
		if s.TryNext(w.ctx) || s.Err() != nil || !same(s.ResumeToken(), latest) {
			w.Errorf("after an empty batch: %v, want %v (%v)", s.ResumeToken(), latest, s.Err())
		}
		w.insert(1)
		w.expect(s, 1)
		if s.RemainingBatchLength() != 0 || !same(s.ResumeToken(), latest) {
			w.Errorf("after the last event of a batch: %v, want %v", s.ResumeToken(), latest)
		}
		w.must(s.Close(w.ctx))
	})
}

func TestProse13TheTokenInsideABatchIsTheIDOfTheEvent(t *testing.T) {
	watchingEverywhere(t, nil, func(w *world, s *mongo.ChangeStream) {
		w.insert(1, 2, 3)
		w.expect(s, 1, 2)
		if s.RemainingBatchLength() != 1 || !same(s.ResumeToken(), idOf(s)) {
			w.Errorf("the token is %v, want %v", s.ResumeToken(), idOf(s))
		}
		w.must(s.Close(w.ctx))
	})
}

func TestProse14TheTokenBeforeTheFirstEventIsThatOfTheOptions(t *testing.T) {
	watchingEverywhere(t, nil, func(w *world, first *mongo.ChangeStream) {
		w.insert(1, 2)
		w.expect(first, 1)
		token := slices.Clone(first.ResumeToken())
		w.must(first.Close(w.ctx))
		// The first batch of this stream has an event.
		remove := w.set.Use("aggregate", func(_ *mongotest.Request, _ mongotest.Handler) *mongotest.Reply {
			return mongotest.NewReply(doc("ok", 1, "cursor", doc("id", int64(7), "ns", "test.c",
				"firstBatch", bson.A{doc("_id", doc("_data", "00"))}, "postBatchResumeToken", doc("_data", "01"))))
		})
		defer remove()
		for name, c := range map[string]struct {
			o    *options.ChangeStreamOptionsBuilder
			want bson.Raw
		}{
			"startAfter":  {options.ChangeStream().SetStartAfter(token), token},
			"resumeAfter": {options.ChangeStream().SetResumeAfter(token), token},
			"neither":     {nil, nil},
		} {
			s := w.watch(c.o)
			if got := s.ResumeToken(); string(got) != string(c.want) || s.RemainingBatchLength() != 1 {
				w.Errorf("%s: the token is %v", name, got)
			}
			w.must(s.Close(w.ctx))
		}
	})
}

func TestProse17And18WhichOptionResumesAStreamThatStartedAfterAToken(t *testing.T) {
	watchingEverywhere(t, nil, func(w *world, first *mongo.ChangeStream) {
		w.insert(1)
		w.expect(first, 1)
		token := slices.Clone(first.ResumeToken())
		w.must(first.Close(w.ctx))
		s := w.watch(options.ChangeStream().SetStartAfter(token))
		check := func(want, not string) {
			t.Helper()
			w.script("getMore", resumableError)
			for s.TryNext(w.ctx) {
			}
			w.must(s.Err())
			stage := w.stageSent()
			if _, err := stage.LookupErr(want); err != nil {
				w.Errorf("no %s in %v", want, stage)
			}
			if _, err := stage.LookupErr(not); err == nil {
				w.Errorf("%s is in %v", not, stage)
			}
		}
		check("startAfter", "resumeAfter")
		w.insert(2)
		w.expect(s, 2)
		check("resumeAfter", "startAfter")
		w.must(s.Close(w.ctx))
	})
}

// mongotest does not split events, so the server's reply is scripted: two fragments of some 10 MB each.
func TestProse19LargeEventsAreSplit(t *testing.T) {
	in(t, nil, func(w *world) {
		w.must(w.client.Database("test").CreateCollection(w.ctx, "c",
			options.CreateCollection().SetChangeStreamPreAndPostImages(doc("enabled", true))))
		w.set.Use("getMore", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
			events := bson.A{}
			for i := range int32(2) {
				events = append(events, doc("_id", doc("_data", "00", "fragmentNum", i),
					"splitEvent", doc("fragment", i+1, "of", int32(2)), "part", strings.Repeat("q", 10<<20)))
			}
			return mongotest.NewReply(doc("ok", 1, "cursor", doc("id", int64(7), "ns", "test.c", "nextBatch", events)))
		})
		s, err := w.coll.Watch(w.ctx, mongo.Pipeline{doc("$changeStreamSplitLargeEvent", d{})},
			options.ChangeStream().SetFullDocumentBeforeChange(options.Required))
		w.must(err)
		for i := range 2 {
			if !s.Next(w.ctx) {
				t.Fatal(s.Err())
			}
			want := fmt.Sprintf(`{"fragment": {"$numberInt":"%d"},"of": {"$numberInt":"2"}}`, i+1)
			if got := s.Current.Lookup("splitEvent").String(); got != want || !same(s.ResumeToken(), idOf(s)) {
				t.Errorf("splitEvent is %s, want %s; the token is %v", got, want, s.ResumeToken())
			}
		}
		sent := w.started("aggregate")[0].Command.Lookup("pipeline")
		if got, want := sent.Array().Index(1).Document().String(), `{"$changeStreamSplitLargeEvent": {}}`; got != want {
			t.Errorf("the second stage is %s", got)
		}
		w.must(s.Close(w.ctx))
	})
}
