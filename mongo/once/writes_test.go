package once_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/once"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Writes that do no harm the second time survive one lost message; a second one is an error that says what is known.
func TestWritesThatMayBeRepeated(t *testing.T) {
	writes := map[string]struct {
		command string
		run     func(w *world) error
		after   int64 // documents
	}{
		"insert": {"insert", func(w *world) error {
			_, err := w.InsertOne(w.t.Context(), d("n", 7))
			return err
		}, 3},
		"delete": {"delete", func(w *world) error { _, err := w.DeleteOne(w.t.Context(), one); return err }, 1},
		"delete by a unique key": {"delete", func(w *world) error {
			_, err := w.DeleteOne(w.t.Context(), d("key", "b"))
			return err
		}, 1},
		"delete many": {"delete", func(w *world) error { _, err := w.DeleteMany(w.t.Context(), bson.D{}); return err }, 0},
		"update many": {"update", func(w *world) error {
			_, err := w.UpdateMany(w.t.Context(), bson.D{}, d("$set", d("a", 1)))
			return err
		}, 2},
		"find": {"find", func(w *world) error { _, err := w.Find(w.t.Context(), bson.D{}); return err }, 2},
	}
	for name, write := range writes {
		for _, fault := range []mongotest.Fault{requestLost, replyLost} {
			for _, times := range []int{1, 2} {
				inWorld(t, once.Options{UniqueKeys: []string{"key"}}, func(w *world) {
					w.insert(d("_id", 1, "key", "a"))
					w.insert(d("_id", 2, "key", "b"))
					w.server.Use(write.command, mongotest.Times(times, fault))
					err := write.run(w)
					if (err == nil) != (times == 1) {
						w.t.Errorf("%s, %d times %+v: %v", name, times, fault, err)
					}
					var failed *once.Error
					if errors.As(err, &failed) && failed.State != once.Unknown {
						w.t.Errorf("%s: the state is %v", name, failed.State)
					}
					n, err := w.plain.CountDocuments(w.t.Context(), bson.D{})
					if want := write.after; err != nil || n != want && (times == 1 || fault.LoseReply) {
						w.t.Errorf("%s, %d times %+v: %d documents, %v; want %d", name, times, fault, n, err, want)
					}
				})
			}
		}
	}
}

// An _id of the caller's: a duplicate key means success only after a lost message, and only if the document is the same.
func TestInsertsWithTheCallersID(t *testing.T) {
	for _, c := range []struct {
		name   string
		there  bson.D
		faults int
		ok     bool
		state  once.State
	}{
		{"the reply is lost", nil, 1, true, 0},
		{"it was there before", d("_id", 1, "n", 1), 0, false, once.NotApplied},
		{"it was there before, and the reply is lost", d("_id", 1, "n", 1), 1, true, 0},
		{"another was there before, and the reply is lost", d("_id", 1, "n", 2), 1, false, once.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, once.Options{}, func(w *world) {
				if c.there != nil {
					w.insert(c.there)
				}
				w.server.Use("insert", mongotest.Times(c.faults, replyLost))
				r, err := w.InsertOne(w.t.Context(), d("n", 1, "_id", 1))
				var failed *once.Error
				switch {
				case c.ok && (err != nil || r.InsertedID != int32(1)):
					w.t.Errorf("%+v, %v", r, err)
				case !c.ok && (!errors.As(err, &failed) || failed.State != c.state || !mongo.IsDuplicateKeyError(err)):
					w.t.Errorf("%v; want the state %v", err, c.state)
				}
			})
		})
	}
}

// A duplicate key of another index is an error, also after a lost message.
func TestADuplicateKeyOfAnotherIndex(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		w.insert(d("_id", 1, "key", "a"))
		_, err := w.plain.Indexes().CreateOne(w.t.Context(), mongo.IndexModel{Keys: d("key", 1), Options: options.Index().SetUnique(true)})
		if err != nil {
			w.t.Fatal(err)
		}
		w.server.Use("insert", mongotest.FaultOnce(requestLost))
		if _, err := w.InsertOne(w.t.Context(), d("key", "a")); !mongo.IsDuplicateKeyError(err) {
			w.t.Errorf("%v; want a duplicate key", err)
		}
	})
}

// What the server refuses is not tried again, and was not applied.
func TestAServersRefusal(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		m := w.record(map[int]mongotest.Fault{0: {Error: &mongotest.CommandError{Code: 13, Message: "not authorized"}}})
		_, err := w.UpdateOne(w.t.Context(), one, increment, upsert)
		var failed *once.Error
		if !errors.As(err, &failed) || failed.State != once.NotApplied || m.count() != 1 {
			w.t.Errorf("%v after %d messages", err, m.count())
		}
	})
	inWorld(t, once.Options{}, func(w *world) {
		w.record(map[int]mongotest.Fault{1: {Error: &mongotest.CommandError{Code: 13, Message: "not authorized"}}})
		_, err := w.UpdateOne(w.t.Context(), one, increment, upsert)
		var failed *once.Error
		if !errors.As(err, &failed) || failed.State != once.Pending {
			w.t.Errorf("the second step: %v", err)
		}
	})
	// The answer that the server is not the primary, or is shutting down, means that nothing was applied; the step is sent once more.
	for _, code := range []int32{10107, 13435, 10058, 11600, 11602, 13436, 189, 91} {
		inWorld(t, once.Options{}, func(w *world) {
			refused := mongotest.Fault{Error: &mongotest.CommandError{Code: code, Message: "no"}}
			m := w.record(map[int]mongotest.Fault{0: refused, 2: refused})
			if _, err := w.UpdateOne(w.t.Context(), one, increment, upsert); err != nil || m.count() != 4 {
				w.t.Errorf("%d: %v after %d messages", code, err, m.count())
			}
		})
	}
}

// A write whose concern is not met is applied here and may be lost there: nobody knows. If the server is shutting down, the step is sent again.
func TestAWriteConcernThatIsNotMet(t *testing.T) {
	for code, messages := range map[int]int{64: 1, 91: 3} {
		inWorld(t, once.Options{}, func(w *world) {
			w.insert(d("_id", 1, "n", 0))
			m := w.record(nil)
			w.server.Use("update", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				if reply := next(r); reply == nil || m.count() > 1 {
					return reply
				}
				return mongotest.NewReply(d("n", 1, "nModified", 1, "writeConcernError", d("code", code, "errmsg", "no")))
			})
			_, err := w.UpdateOne(w.t.Context(), one, increment)
			var failed *once.Error
			if unknown := errors.As(err, &failed) && failed.State == once.Unknown; unknown != (messages == 1) || m.count() != messages {
				w.t.Errorf("code %d: %v after %d messages, want %d", code, err, m.count(), messages)
			}
		})
	}
}

// The concern of the second step is not met: the update is applied here, and is not taken for one that the document refused.
func TestTheWriteConcernOfTheSecondStep(t *testing.T) {
	concern := d("code", 64, "errmsg", "no")
	for name, c := range map[string]struct {
		reply bson.D
		state once.State
		n     int
	}{
		"it is not met": {d("n", 1, "nModified", 1, "writeConcernError", concern), once.Unknown, 1},
		"it is not met, and there is no write": {
			d("n", 0, "nModified", 0, "writeErrors", bson.A{d("index", 0, "code", 2, "errmsg", "no")}, "writeConcernError", concern), once.NotApplied, 0,
		},
	} {
		inWorld(t, once.Options{}, func(w *world) {
			w.insert(d("_id", 1, "n", 0))
			messages := 0
			w.server.Use("update", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				if messages++; messages != 2 {
					return next(r)
				}
				if c.n > 0 {
					next(r)
				}
				return mongotest.NewReply(c.reply)
			})
			_, err := w.UpdateOne(w.t.Context(), one, increment)
			var failed *once.Error
			if !errors.As(err, &failed) || failed.State != c.state || w.n() != c.n {
				w.t.Errorf("%s: %v, n is %d", name, err, w.n())
			}
		})
	}
}

// A client's own timeout is the end: the caller waits no longer.
func TestATimeoutIsNotRepeated(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		m := w.record(map[int]mongotest.Fault{0: {LoseReply: true, Silent: true}})
		_, err := w.UpdateOne(context.Background(), one, increment, upsert)
		var failed *once.Error
		if !errors.As(err, &failed) || failed.State != once.Unknown || m.count() != 1 {
			w.t.Errorf("%v after %d messages", err, m.count())
		}
	}, func(o *options.ClientOptions) { o.SetTimeout(100 * time.Millisecond) })
}

// writes are all that a collection can write.
func (w *world) writes(ctx context.Context) map[string]func() error {
	return map[string]func() error{
		"InsertOne":            func() error { _, err := w.InsertOne(ctx, d("n", 1)); return err },
		"UpdateOne, one step":  func() error { _, err := w.UpdateOne(ctx, one, d("$set", d("a", 1)), upsert); return err },
		"UpdateOne, two steps": func() error { _, err := w.UpdateOne(ctx, one, increment, upsert); return err },
		"UpdateOneAs":          func() error { _, err := w.UpdateOneAs(ctx, bson.NewObjectID(), one, increment, upsert); return err },
		"UpdateMany":           func() error { _, err := w.UpdateMany(ctx, bson.D{}, d("$set", d("a", 1))); return err },
		"DeleteMany":           func() error { _, err := w.DeleteMany(ctx, bson.D{}); return err },
		"DeleteOne":            func() error { _, err := w.DeleteOne(ctx, one); return err },
	}
}

// Without an acknowledgement nobody knows anything: every write is an error.
func TestAnUnacknowledgedWriteConcern(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		for name, write := range w.writes(w.t.Context()) {
			err := write()
			var failed *once.Error
			if !errors.As(err, &failed) || failed.State != once.Unknown || !strings.Contains(err.Error(), "unacknowledged") {
				w.t.Errorf("%s: %v", name, err)
			}
		}
	}, func(o *options.ClientOptions) { o.SetWriteConcern(writeconcern.Unacknowledged()) })
}

// Before anything was sent a write is not applied. A nil context is taken as the clients take it.
func TestContexts(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		ctx, cancel := context.WithCancelCause(w.t.Context())
		cancel(errors.New("the program ends"))
		for name, write := range w.writes(ctx) {
			err := write()
			var failed *once.Error
			if !errors.As(err, &failed) || failed.State != once.NotApplied || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "the program ends") {
				w.t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := w.Sweep(ctx, once.SweepOptions{OlderThan: 1}); !errors.Is(err, context.Canceled) {
			w.t.Errorf("Sweep: %v", err)
		}
		if documents := w.server.ReadAll("app.counters"); len(documents) > 0 {
			w.t.Errorf("there is %v", documents)
		}
		for name, write := range w.writes(nil) { //nolint:staticcheck // a nil context is allowed
			if err := write(); err != nil {
				w.t.Errorf("%s without a context: %v", name, err)
			}
		}
		if _, err := w.Sweep(nil, once.SweepOptions{OlderThan: 1}); err != nil { //nolint:staticcheck // a nil context is allowed
			w.t.Errorf("Sweep without a context: %v", err)
		}
	})
}

// The caller leaves between the steps: the update is pending, because the second step was not sent.
func TestTheContextEndsBetweenTheSteps(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		w.insert(d("_id", 1, "n", 0))
		ctx, cancel := context.WithCancel(w.t.Context())
		coll, err := once.New(leaving{w.plain, cancel}, once.Options{})
		if err != nil {
			w.t.Fatal(err)
		}
		_, err = coll.UpdateOne(ctx, one, increment)
		var failed *once.Error
		if !errors.As(err, &failed) || failed.State != once.Pending || !errors.Is(err, context.Canceled) {
			w.t.Errorf("%v; want that it is pending", err)
		}
		w.expect("then", 0, 1)
	})
}

// leaving is a collection whose caller leaves after each update.
type leaving struct {
	*mongo.Collection
	leave func()
}

// UpdateOne updates, and ends the caller's context.
func (l leaving) UpdateOne(ctx context.Context, filter, update any, opts ...options.Lister[options.UpdateOneOptions]) (*mongo.UpdateResult, error) {
	defer l.leave()
	return l.Collection.UpdateOne(ctx, filter, update, opts...)
}

// Only a duplicate key of the index on _id shows that a document is there. Servers before 4.4 name the index in the text only.
func TestWhichIndexHasTheDuplicateKey(t *testing.T) {
	for _, c := range []struct {
		name string
		more bson.D
		text string
		onID bool
	}{
		{"the index on _id", d("keyPattern", d("_id", 1)), "", true},
		{"a compound index that begins with _id", d("keyPattern", d("_id", 1, "n", 1)), "", false},
		{"another index", d("keyPattern", d("n", 1)), "E11000 duplicate key error collection: app.counters index: _id_ dup key", false},
		{"the index on _id, in the text of 3.2 to 4.2", nil, "E11000 duplicate key error collection: app.counters index: _id_ dup key: { : 1 }", true},
		{"the index on _id, in the text of 3.0", nil, "E11000 duplicate key error index: app.counters.$_id_ dup key: { : 1 }", true},
		{"another index, in the text of 3.2 to 4.2", nil, "E11000 duplicate key error collection: app.counters index: _id_1_n_1 dup key: { : 1 }", false},
	} {
		inWorld(t, once.Options{}, func(w *world) {
			attempts := 0
			w.server.Use("insert", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				if attempts++; attempts == 1 {
					reply := next(r)
					reply.Lost = true
					return reply
				}
				failure := append(d("index", 0, "code", 11000, "errmsg", c.text), c.more...)
				return mongotest.NewReply(d("ok", 1, "n", 0, "writeErrors", bson.A{failure}))
			})
			if _, err := w.InsertOne(w.t.Context(), d("n", 1)); (err == nil) != c.onID {
				w.t.Errorf("%s: %v", c.name, err)
			}
		})
	}
}

// In a transaction nothing is repeated: the caller repeats the whole transaction, and the update is in it once.
func TestATransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
		client, err := mongo.Connect(options.Client().ApplyURI(server.URI()).SetDialer(server.Dialer()))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Disconnect(context.Background()) }()
		plain := client.Database("app").Collection("counters")
		counters, err := once.New(plain, once.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for fault := range 3 {
			one := d("_id", fault)
			if _, err := plain.InsertOne(t.Context(), d("_id", fault, "n", 0)); err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			count := 0
			end := server.Use("update", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
				mu.Lock()
				defer mu.Unlock()
				count++
				return mongotest.Fault{LoseReply: count-1 == fault}
			}))
			session, err := client.StartSession()
			if err != nil {
				t.Fatal(err)
			}
			calls := 0
			_, err = session.WithTransaction(t.Context(), func(ctx context.Context) (any, error) {
				calls++
				return counters.UpdateOne(ctx, one, increment)
			})
			session.EndSession(t.Context())
			end()
			documents, _ := server.Find("app.counters", one)
			if err != nil || documents[0].Lookup("n").AsInt64() != 1 || calls != 1+min(1, 2-fault) {
				t.Errorf("reply %d is lost: %v, %v after %d calls", fault, err, documents, calls)
			}
		}
	})
}

// poolCleared is an error as the official driver's, of an operation that met a pool that was cleared.
type poolCleared struct{ error }

// Retryable reports that nothing was sent.
func (poolCleared) Retryable() bool { return true }

// clearing is a collection whose pool was cleared before some updates.
type clearing struct {
	*mongo.Collection
	times int
}

// UpdateOne fails some times.
func (c *clearing) UpdateOne(ctx context.Context, filter, update any, opts ...options.Lister[options.UpdateOneOptions]) (*mongo.UpdateResult, error) {
	if c.times--; c.times >= 0 {
		return nil, poolCleared{errors.New("the pool was cleared")}
	}
	return c.Collection.UpdateOne(ctx, filter, update, opts...)
}

// A pool that was cleared is a reason to try again, and nothing was sent.
func TestAClearedPool(t *testing.T) {
	for times := range 3 {
		inWorld(t, once.Options{}, func(w *world) {
			coll, err := once.New(&clearing{w.plain, times}, once.Options{})
			if err != nil {
				w.t.Fatal(err)
			}
			_, err = coll.UpdateOne(w.t.Context(), one, increment, upsert)
			var failed *once.Error
			if (err == nil) != (times < 2) || err != nil && (!errors.As(err, &failed) || failed.State != once.NotApplied) {
				w.t.Errorf("%d times: %v", times, err)
			}
		})
	}
}
