package mongo_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

// Retryable Writes, "Executing Retryable Write Commands": a server of the retry that does not support them ends the
// operation with the first error.
func TestAServerThatDoesNotSupportTheRetryReturnsTheErrorBefore(t *testing.T) {
	for _, c := range []struct {
		name     string
		do       func(w *world) error
		command  string
		attempts int
	}{
		{"a write needs sessions", updateOne, "update", 1},
		{"a read does not", findOne, "find", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			inside(t, sharded(2), poll, func(w *world) {
				var old atomic.Int64 // the mongos that tells of no sessions
				old.Store(-1)
				w.set.Use("hello", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
					reply := next(r)
					if reply != nil && r.Mongos == int(old.Load()) {
						reply.Body = without(t, reply.Body, "logicalSessionTimeoutMinutes")
					}
					return reply
				})
				w.seed()
				var asked []int
				w.heal = w.set.Use(c.command, mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
					if asked = append(asked, r.Mongos); len(asked) > 1 {
						return mongotest.Fault{}
					}
					old.Store(int64(1 - r.Mongos))
					w.pass(20 * time.Second) // its monitor hears of it
					return loseRequest
				}))
				err := c.do(w)
				if len(asked) != c.attempts {
					t.Errorf("%d attempts at %v: %v", len(asked), asked, err)
				}
				if c.attempts == 2 {
					w.must(err)
					return
				}
				history := w.historyOf(err)
				last := history.Last()
				if !mongo.IsNetworkError(err) || history.StopReason() != retry.StopUnsupportedServer || last.Stage != retry.StageBeforeSending ||
					last.Endpoint != w.set.MongosAddr(int(old.Load())) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// Server Selection: the getMore of a cursor and the commands of a sharded transaction go to the server that they are pinned to.
// If it is Unknown meanwhile, the error of their retry is that of the check which failed, and not that it is too old.
func TestARetryOnAPinnedServerThatIsUnknownNamesTheErrorOfItsCheck(t *testing.T) {
	for _, c := range []struct {
		name, command string
		begin         func(w *world) (next func() error)
	}{
		{"the getMore of a cursor", "getMore", func(w *world) func() error {
			cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(1))
			w.must(err)
			return func() error { return cursor.All(w.ctx, new([]d)) }
		}},
		{"a command of a sharded transaction", "update", func(w *world) func() error {
			_, ctx := w.transaction()
			w.must(insertOne(ctx, w.coll))
			return func() error { return writes[2].do(ctx, w.coll) }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inside(t, sharded(1), poll, func(w *world) {
				w.must(insertOne(w.ctx, w.coll))
				w.must(insertOne(w.ctx, w.coll))
				next := c.begin(w)
				asked := 0
				w.heal = w.set.Use(c.command, mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
					asked++
					w.set.Use("hello", mongotest.Decide(func(*mongotest.Request) mongotest.Fault { return refuse(11600) }))
					w.pass(20 * time.Second) // its monitor is refused
					return refuse(462, "SystemOverloadedError", "RetryableError")
				}))
				err := next()
				history := w.historyOf(err)
				var cleared *cluster.PoolClearedError
				if last := history.Last(); asked != 1 || !errors.As(last.Err, &cleared) || history.StopReason() != retry.StopAttemptsUsed {
					t.Errorf("%d attempts, why %v: %v", asked, history.StopReason(), err)
				}
				if !strings.Contains(err.Error(), "code 11600") || strings.Contains(err.Error(), "support") {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// A command that cannot be built for the next server ends the operation with the error before.
func TestACommandThatCannotBeBuiltForTheRetryReturnsTheErrorBefore(t *testing.T) {
	inside(t, sharded(2), nil, func(w *world) {
		w.pass(time.Second) // both mongos are discovered, and no connection of the client's is made yet
		var small atomic.Int64
		small.Store(-1)
		w.set.Use("hello", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			reply := next(r)
			if reply != nil && r.Mongos == int(small.Load()) {
				reply.Body = with(t, reply.Body, "maxMessageSizeBytes", int32(100))
			}
			return reply
		})
		w.heal = w.set.Use("update", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
			small.Store(int64(1 - r.Mongos)) // the handshake of the next connection tells it
			return loseRequest
		}))
		err := updateOne(w)
		history := w.historyOf(err)
		last := history.Last()
		if !mongo.IsNetworkError(err) || len(history.Attempts) != 2 || history.StopReason() != retry.StopNotBuilt ||
			last.Stage != retry.StageBeforeSending || last.Endpoint != w.set.MongosAddr(int(small.Load())) || len(w.started("update")) != 1 {
			t.Errorf("%v", err)
		}
	})
}

// with returns a document with another value of one of its fields.
func with(t *testing.T, raw bson.Raw, field string, value any) bson.Raw {
	t.Helper()
	var fields d
	if err := bson.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	for i := range fields {
		if fields[i].Key == field {
			fields[i].Value = value
		}
	}
	b, err := bson.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// without returns a document without one of its fields.
func without(t *testing.T, raw bson.Raw, field string) bson.Raw {
	t.Helper()
	var fields d
	if err := bson.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	fields = slices.DeleteFunc(fields, func(f e) bool { return f.Key == field })
	b, err := bson.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// noSessions makes all servers say that they have no sessions.
func (w *world) noSessions() {
	w.set.Use("hello", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		reply := next(r)
		if reply != nil { // the connection is still there
			reply.Body = without(w.T, reply.Body, "logicalSessionTimeoutMinutes")
		}
		return reply
	})
}

// A first server that does not support retryable writes: no transaction number, one attempt, and no label.
func TestAServerWithoutRetryableWritesIsAskedOnce(t *testing.T) {
	inside(t, sharded(1), poll, func(w *world) {
		w.noSessions()
		w.seed()
		w.script("update", loseRequest)
		err := updateOne(w)
		s := w.started("update")
		if len(s) != 1 || !mongo.IsNetworkError(err) || len(labels(err, "RetryableWriteError")) != 0 {
			t.Fatalf("%d attempts: %v", len(s), err)
		}
		for _, field := range []string{"lsid", "txnNumber"} {
			if _, err := s[0].Command.LookupErr(field); err == nil {
				t.Errorf("the command has %s", field)
			}
		}
		if stop := w.historyOf(err).StopReason(); stop != retry.StopUnsupportedServer {
			t.Errorf("why: %v", stop)
		}
	})
}
