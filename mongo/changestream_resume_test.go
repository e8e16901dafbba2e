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

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// resumableError leaves the server known, so that killCursors can be sent to it.
var resumableError = refuse(6, "ResumableChangeStreamError")

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
				if s.ID() != 0 {
					t.Errorf("before it has resumed the id is %d", s.ID())
				}
				w.expect(s, 1)
				w.heal()
				w.must(s.Close(w.ctx))
			})
		})
	}
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
