package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
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

// resumableError leaves the server known, so that killCursors can be sent to it.
var resumableError = refuse(6, "ResumableChangeStreamError")

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

// The official driver gives up when no server could be selected for its server selection timeout.
func TestTheStreamResumesAfterAnOutageThatIsLongerThanTheSelectionTimeout(t *testing.T) {
	configure := func(o *options.ClientOptions) { o.SetServerSelectionTimeout(2 * time.Second) }
	in(t, configure, func(w *world) {
		w.insert(0)
		s := w.watch(nil)
		w.insert(1)
		w.expect(s, 1)
		for member := range w.set.Members() {
			w.set.Kill(member)
		}
		start := time.Now()
		time.AfterFunc(time.Minute, func() {
			for member := range w.set.Members() {
				w.set.Restart(member)
			}
		})
		go func() {
			w.pass(90 * time.Second)
			_, err := w.coll.InsertOne(w.ctx, doc("_id", 2))
			if err != nil {
				t.Error(err)
			}
		}()
		w.expect(s, 2)
		if took := time.Since(start); took < 90*time.Second || took > 100*time.Second {
			t.Errorf("it took %v", took)
		}
		w.must(s.Close(w.ctx))
	})
}

func TestAnOutageEndsNextWithItsContextAndTheNextCallResumes(t *testing.T) {
	configure := func(o *options.ClientOptions) { o.SetServerSelectionTimeout(2 * time.Second) }
	in(t, configure, func(w *world) {
		w.insert(0)
		s := w.watch(nil)
		for member := range w.set.Members() {
			w.set.Kill(member)
		}
		ctx, cancel := context.WithTimeout(w.ctx, 30*time.Second)
		defer cancel()
		start := time.Now()
		if s.Next(ctx) || !mongo.IsTimeout(s.Err()) || s.ID() != 0 {
			t.Errorf("error: %v", s.Err())
		}
		if took := time.Since(start); took < 29*time.Second || took > 31*time.Second {
			t.Errorf("it took %v", took)
		}
		for member := range w.set.Members() {
			w.set.Restart(member)
		}
		go func() {
			w.pass(20 * time.Second)
			w.insert(1)
		}()
		w.expect(s, 1)
		w.must(s.Close(w.ctx))
	})
}

func TestAfterATimeoutOfNextNoEventIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		configure func(*options.ClientOptions)
		timeout   time.Duration
	}{
		"of the context": {nil, 5 * time.Second},
		"of the client":  {func(o *options.ClientOptions) { o.SetTimeout(5 * time.Second) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, c.configure, func(w *world) {
				w.insert(0)
				s := w.watch(options.ChangeStream().SetMaxAwaitTime(time.Second))
				// The reply with the event is lost, and the connection stays open.
				w.script("getMore", mongotest.Fault{LoseReply: true, Silent: true})
				w.insert(1)
				ctx := w.ctx
				if c.timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.timeout)
					defer cancel()
				}
				start := time.Now()
				if s.Next(ctx) || !mongo.IsTimeout(s.Err()) {
					t.Errorf("error: %v", s.Err())
				}
				if took := time.Since(start); took < 4*time.Second || took > 6*time.Second {
					t.Errorf("it took %v", took)
				}
				w.expect(s, 1)
				w.heal()
				w.must(s.Close(w.ctx))
			})
		})
	}
}

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

func TestWhichErrorsOfGetMoreResumeTheStream(t *testing.T) {
	resumable := []int32{43, 6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436, 63, 150, 13388, 234, 133}
	type row struct {
		name    string
		version string
		fault   mongotest.Fault
		resumes bool
	}
	rows := []row{
		{"4.2, another code", "4.2", refuse(1), false},
		{"4.2, the label", "4.2", refuse(1, "ResumableChangeStreamError"), false},
		{"4.4, the label", "4.4", refuse(1, "ResumableChangeStreamError"), true},
		{"4.4, another label", "4.4", refuse(1, "RetryableWriteError"), false},
	}
	for _, code := range resumable {
		rows = append(rows,
			row{fmt.Sprintf("4.2, code %d", code), "4.2", refuse(code), true},
			row{fmt.Sprintf("4.4, code %d without the label", code), "4.4", refuse(code), code == 43},
		)
	}
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			watching(t, nil, func(w *world, s *mongo.ChangeStream) {
				w.insert(1)
				w.script("getMore", c.fault)
				if got := s.Next(w.ctx); got != c.resumes {
					t.Errorf("an event: %t, %v", got, s.Err())
				}
				if !c.resumes {
					checkCode(t, s.Err(), int(c.fault.Error.Code))
				}
				w.heal()
				w.pass(time.Second)
				_ = s.Close(w.ctx)
			}, mongotest.Version(c.version))
		})
	}
}

// A getMore that needs a new connection fails when the handshake does. Whatever the server refuses it with, the cursor may be
// alive, and the stream was not refused.
func TestAStreamResumesAfterAHandshakeThatIsRefused(t *testing.T) {
	for name, fault := range map[string]mongotest.Fault{
		"with a code that is not retryable": refuse(1), "with a retryable code": refuse(91),
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(o *options.ClientOptions) { o.SetMaxConnIdleTime(time.Second) }, func(w *world) {
				w.insert(0)
				s := w.watch(nil)
				w.insert(1)
				w.pass(2 * time.Second) // the connection is too old now
				refused := atomic.Int64{}
				w.heal = w.set.Use("isMaster", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
					if refused.Add(1) > 1 {
						return mongotest.Fault{}
					}
					return fault
				}))
				w.forget()
				w.expect(s, 1)
				if n := len(w.started("aggregate")); refused.Load() < 2 || n != 1 {
					w.Errorf("%d handshakes, %d aggregate commands", refused.Load(), n)
				}
				w.must(s.Close(w.ctx))
			})
		})
	}
}

// withoutPostBatchResumeTokens makes the servers reply as those before 4.0.7.
func (w *world) withoutPostBatchResumeTokens() {
	strip := func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		reply := next(r)
		if _, err := reply.Body.LookupErr("cursor"); err != nil {
			return reply // an error
		}
		var body, cursor d
		w.must(bson.Unmarshal(reply.Body, &body))
		for i, e := range body {
			if e.Key != "cursor" {
				continue
			}
			for _, field := range e.Value.(d) {
				if field.Key != "postBatchResumeToken" {
					cursor = append(cursor, field)
				}
			}
			body[i].Value = cursor
		}
		return mongotest.NewReply(body)
	}
	w.set.Use("aggregate", strip)
	w.set.Use("getMore", strip)
}

// Before 4.0.7 a server sends no postBatchResumeToken; before 4.0 a stream cannot start at a time.
func TestWithoutATokenTheStreamResumesAtTheOperationTimeOfItsFirstReply(t *testing.T) {
	for _, version := range []string{"4.0", "3.6"} {
		in(t, nil, func(w *world) {
			w.withoutPostBatchResumeTokens()
			w.must(w.client.Database("test").CreateCollection(w.ctx, "c"))
			s := w.watch(nil)
			if s.ResumeToken() != nil {
				t.Errorf("the token is %v", s.ResumeToken())
			}
			w.insert(1)
			w.script("getMore", refuse(43))
			if version == "4.0" {
				w.expect(s, 1)
			} else {
				s.TryNext(w.ctx)
			}
			if _, err := w.stageSent().LookupErr("startAtOperationTime"); (err == nil) != (version == "4.0") {
				t.Errorf("%s: the stage is %v", version, w.stageSent())
			}
			w.heal()
			w.must(s.Close(w.ctx))
		}, mongotest.Version(version))
	}
}

// A reply without an operation time names no time at which the stream could resume.
func TestAStreamWithoutATokenAndATimeResumesWithTheOriginalCommand(t *testing.T) {
	in(t, nil, func(w *world) {
		w.must(w.client.Database("test").CreateCollection(w.ctx, "c"))
		defer w.set.Use("aggregate", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			reply := next(r)
			var body d
			w.must(bson.Unmarshal(reply.Body, &body))
			body = slices.DeleteFunc(body, func(f e) bool { return f.Key == "operationTime" })
			return mongotest.NewReply(body)
		})()
		w.withoutPostBatchResumeTokens()
		s := w.watch(nil)
		w.script("getMore", refuse(43))
		s.TryNext(w.ctx)
		if stage := w.stageSent(); len(w.started("aggregate")) != 2 || stage.String() != "{}" {
			t.Errorf("%d aggregates, the stage is %v", len(w.started("aggregate")), stage)
		}
		w.heal()
		w.must(s.Close(w.ctx))
	}, mongotest.Version("4.0"))
}

// Change Streams specification, "Resume Process": the time is that of the option or of the first reply, also after several
// resumes. A later time would lose events.
func TestAStreamWithoutATokenResumesAtTheSameTimeAgain(t *testing.T) {
	for name, given := range map[string]bool{"of its first reply": false, "of StartAtOperationTime": true} {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.withoutPostBatchResumeTokens()
				w.must(w.client.Database("test").CreateCollection(w.ctx, "c"))
				session, err := w.client.StartSession()
				w.must(err)
				defer session.EndSession(w.ctx)
				elsewhere := w.client.Database("test").Collection("other") // its changes move the operation time
				o := options.ChangeStream()
				w.must(insertOne(mongo.NewSessionContext(w.ctx, session), elsewhere))
				start := session.OperationTime()
				if given {
					o.SetStartAtOperationTime(start)
					w.must(insertOne(w.ctx, elsewhere))
				}
				s := w.watch(o)
				var sent []string
				for range 3 {
					w.must(insertOne(w.ctx, elsewhere))
					w.script("getMore", refuse(43))
					s.TryNext(w.ctx)
					w.must(s.Err())
					at := w.stageSent().Lookup("startAtOperationTime")
					sent = append(sent, at.String())
					if seconds, increment, ok := at.TimestampOK(); !ok || given && (seconds != start.T || increment != start.I) {
						t.Errorf("the stream resumes at %v, it started at %v", at, start)
					}
				}
				if sent[1] != sent[0] || sent[2] != sent[0] {
					t.Errorf("the stream resumes at %v", sent)
				}
				w.heal()
				w.must(s.Close(w.ctx))
			}, mongotest.Version("4.0"))
		})
	}
}

// A call whose context has ended sends nothing, so that the stream has lost nothing either.
func TestNextWithAContextThatHasEndedDoesNotResumeTheStream(t *testing.T) {
	watching(t, nil, func(w *world, s *mongo.ChangeStream) {
		ended, cancel := context.WithCancel(w.ctx)
		cancel()
		w.forget()
		if s.Next(ended) || !errors.Is(s.Err(), context.Canceled) || s.ID() == 0 {
			t.Errorf("the id is %d, the error %v", s.ID(), s.Err())
		}
		w.insert(1)
		w.expect(s, 1)
		if n := len(w.started("aggregate")); n != 0 {
			t.Errorf("%d aggregate commands", n)
		}
		w.must(s.Close(w.ctx))
	})
}

func TestNextThatIsCancelledLosesNoEvent(t *testing.T) {
	watching(t, nil, func(w *world, s *mongo.ChangeStream) {
		ctx, cancel := context.WithCancel(w.ctx)
		time.AfterFunc(100*time.Millisecond, cancel)
		if s.Next(ctx) || !errors.Is(s.Err(), context.Canceled) {
			t.Errorf("the error is %v", s.Err())
		}
		w.insert(1)
		w.expect(s, 1)
		w.must(s.Close(w.ctx))
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

// A server that steps down answers "not primary" for a while.
func TestTheStreamResumesWhileItIsRefusedWithRetryableErrors(t *testing.T) {
	watching(t, nil, func(w *world, s *mongo.ChangeStream) {
		w.insert(1)
		w.script("getMore", resumableError)
		getMores, refusals := w.heal, 7
		aggregates := w.set.Use("aggregate", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
			if refusals--; refusals >= 0 {
				return refuse(10107)
			}
			return mongotest.Fault{}
		}))
		start := time.Now()
		w.expect(s, 1)
		if n, took := len(w.started("aggregate")), time.Since(start); n != 9 || took > 5*time.Second {
			t.Errorf("%d aggregate commands in %v", n, took)
		}
		getMores()
		aggregates()
		w.must(s.Close(w.ctx))
	})
}

func TestAStreamOfAShardedClusterResumes(t *testing.T) {
	inside(t, sharded(2), nil, func(w *world) {
		w.insert(0)
		s := w.watch(options.ChangeStream().SetMaxAwaitTime(time.Second))
		w.insert(1)
		w.expect(s, 1)
		token := slices.Clone(s.ResumeToken())
		w.script("getMore", loseReply)
		w.insert(2, 3)
		w.expect(s, 2, 3)
		if stage := w.stageSent(); stage.Lookup("resumeAfter").Type == 0 || token == nil {
			t.Errorf("the stage is %v", stage)
		}
		w.heal()
		w.must(s.Close(w.ctx))
	})
}

// Client-Side Operations Timeout, "Change Streams": the call after a timeout resumes, and then it asks for events.
func TestTryNextAfterATimeoutResumesAndAsksOnce(t *testing.T) {
	in(t, nil, func(w *world) {
		s := w.watch(options.ChangeStream().SetMaxAwaitTime(time.Millisecond))
		w.script("getMore", mongotest.Fault{Delay: 5 * time.Second})
		ctx, cancel := context.WithTimeout(w.ctx, time.Second)
		defer cancel()
		if s.Next(ctx) || !mongo.IsTimeout(s.Err()) {
			t.Fatalf("error: %v", s.Err())
		}
		w.forget()
		if s.TryNext(w.ctx) || s.Err() != nil {
			t.Errorf("error: %v", s.Err())
		}
		var sent []string
		for _, ev := range w.started("") {
			if ev.CommandName != "killCursors" {
				sent = append(sent, ev.CommandName)
			}
		}
		if !slices.Equal(sent, []string{"aggregate", "getMore"}) {
			t.Errorf("TryNext sent %q", sent)
		}
	})
}

// The mongos tells that it lost the server, and not that the cursor was killed.
func TestAStreamOfAShardedClusterResumesWhenTheServerDiesWhileItWaits(t *testing.T) {
	inside(t, sharded(1), nil, func(w *world) {
		w.must(w.client.Database("test").CreateCollection(w.ctx, "c"))
		s := w.watch(nil)
		died := make(chan struct{})
		go func() {
			defer close(died)
			w.pass(100 * time.Millisecond)
			primary := w.set.Primary()
			w.set.Kill(primary)
			w.set.Restart(primary)
			w.pass(time.Minute)
			if _, err := w.coll.InsertOne(w.ctx, doc("_id", 1)); err != nil {
				t.Error(err)
			}
		}()
		w.expect(s, 1)
		<-died
		w.must(s.Close(w.ctx))
	})
}

// The time of ctx can be too short for a command before ctx ends. That does not end the stream either.
func TestAStreamThatHasTooLittleTimeToResumeResumesLater(t *testing.T) {
	refused := func(code int, labels ...string) mongotest.Middleware {
		return func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
			return mongotest.NewReply(doc("ok", 0, "code", code, "errorLabels", labels, "baseBackoffMS", int32(time.Hour/time.Millisecond)))
		}
	}
	for _, c := range []struct {
		name   string
		answer mongotest.Middleware // to the aggregate command that resumes
		time   time.Duration
		sent   bool
	}{
		{"the server stops at maxTimeMS", refused(50), time.Second, true},
		{"the wait for an overloaded server is too long", refused(462, "SystemOverloadedError", "RetryableError"), 40 * time.Millisecond, true},
		{"less than a round trip is left", refused(2), 25 * time.Millisecond, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.set.Use("hello", mongotest.Always(mongotest.Fault{Delay: 20 * time.Millisecond}))
				w.set.Use("killCursors", mongotest.Always(mongotest.Fault{Delay: 6 * time.Millisecond}))
				w.reconnect()
				w.must(w.client.Database("test").CreateCollection(w.ctx, "c"))
				s := w.watch(nil)
				w.insert(1)
				w.pass(time.Minute) // the round trip time is known
				remove := w.set.Use("aggregate", c.answer)
				w.script("getMore", resumableError)
				w.forget()
				short, cancel := context.WithTimeout(w.ctx, c.time)
				for s.Next(short) {
					t.Fatal("there is an event")
				}
				if err := short.Err(); err != nil {
					t.Errorf("the context has ended: %v", err)
				}
				cancel()
				if err := s.Err(); !errors.Is(err, context.DeadlineExceeded) || len(w.started("aggregate")) > 0 != c.sent {
					t.Errorf("%d commands were sent: %v", len(w.started("aggregate")), err)
				}
				remove()
				w.expect(s, 1)
				w.must(s.Close(w.ctx))
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

// "A change stream MUST perform server selection with the original read preference": also if the server of the cursor is there.
func TestAStreamResumesOnTheNewPrimary(t *testing.T) {
	watching(t, nil, func(w *world, s *mongo.ChangeStream) {
		w.must(w.set.StepDown())
		primary, err := w.set.WaitPrimary(w.ctx)
		w.must(err)
		w.pass(time.Minute)
		w.insert(1)
		w.forget()
		w.script("getMore", resumableError)
		w.expect(s, 1)
		sent := w.started("aggregate")
		if len(sent) != 1 || !strings.HasPrefix(sent[0].ConnectionID, w.set.Addr(primary)) {
			t.Errorf("%d aggregate commands, the first on %s", len(sent), sent[0].ConnectionID)
		}
		w.must(s.Close(w.ctx))
	})
}

// A server that keeps refusing gets no flood of commands, also without a deadline.
func TestAStreamThatCannotResumeTriesTwiceASecond(t *testing.T) {
	watching(t, nil, func(w *world, s *mongo.ChangeStream) {
		w.insert(1)
		const tries = 20 // each aggregate command is retried once at once
		w.script("aggregate", slices.Repeat([]mongotest.Fault{refuse(89)}, tries)...)
		w.set.Use("getMore", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
			if len(w.started("aggregate")) < 2 {
				return resumableError
			}
			return mongotest.Fault{}
		}))
		start := time.Now()
		w.expect(s, 1)
		if took := time.Since(start); took < tries/2*300*time.Millisecond { // a wait may end early with a change of the topology
			t.Errorf("%d commands in %v", len(w.started("aggregate")), took)
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
