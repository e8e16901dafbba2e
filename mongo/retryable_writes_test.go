package mongo_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

// writes are the supported write operations. Each of them applies to the document with _id 1 or inserts one.
var writes = []struct {
	name, command string
	do            func(ctx context.Context, c *mongo.Collection) error
}{
	{"insertOne", "insert", func(ctx context.Context, c *mongo.Collection) error {
		_, err := c.InsertOne(ctx, doc("x", 1))
		return err
	}},
	{"insertMany", "insert", func(ctx context.Context, c *mongo.Collection) error {
		_, err := c.InsertMany(ctx, []any{doc("x", 1)})
		return err
	}},
	{"updateOne", "update", func(ctx context.Context, c *mongo.Collection) error {
		_, err := c.UpdateOne(ctx, doc("_id", 1), doc("$inc", doc("n", 1)))
		return err
	}},
	{"replaceOne", "update", func(ctx context.Context, c *mongo.Collection) error {
		_, err := c.ReplaceOne(ctx, doc("_id", 1), doc("n", 7))
		return err
	}},
	{"deleteOne", "delete", func(ctx context.Context, c *mongo.Collection) error {
		_, err := c.DeleteOne(ctx, doc("_id", 1))
		return err
	}},
	{"findOneAndUpdate", "findAndModify", func(ctx context.Context, c *mongo.Collection) error {
		return c.FindOneAndUpdate(ctx, doc("_id", 1), doc("$inc", doc("n", 1))).Err()
	}},
}

func (w *world) seed() {
	w.Helper()
	_, err := w.coll.InsertOne(w.ctx, doc("_id", 1, "n", 0))
	w.must(err)
	w.forget()
}

func TestARetryableWriteWithALostMessageIsAppliedOnce(t *testing.T) {
	for _, op := range writes {
		for name, fault := range map[string]mongotest.Fault{"request": loseRequest, "reply": loseReply} {
			t.Run(op.name+" "+name, func(t *testing.T) {
				in(t, nil, func(w *world) {
					w.seed()
					before := w.applied(op.command)
					w.script(op.command, fault)
					w.must(op.do(w.ctx, w.coll))
					if n := w.applied(op.command) - before; n != 1 {
						t.Errorf("it was applied %d times", n)
					}
				})
			})
		}
	}
}

func TestEveryAttemptHasTheSameTransactionNumberAndItsOwnRequestID(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		w.script("update", loseReply)
		w.must(writes[2].do(w.ctx, w.coll))
		w.must(writes[2].do(w.ctx, w.coll))
		s := w.started("update")
		if len(s) != 3 || w.ends != 3 {
			t.Fatalf("%d started and %d ended events, want 3 of each", len(s), w.ends)
		}
		number := func(i int) int64 { return s[i].Command.Lookup("txnNumber").Int64() }
		lsid := func(i int) []byte { return s[i].Command.Lookup("lsid").Value }
		if number(0) != number(1) || !bytes.Equal(lsid(0), lsid(1)) || number(0) <= 0 {
			t.Errorf("the retry has another lsid or txnNumber: %v and %v", s[0].Command, s[1].Command)
		}
		if bytes.Equal(lsid(1), lsid(2)) && number(2) <= number(1) {
			t.Errorf("the next write's number %d is not greater than %d", number(2), number(1))
		}
		if s[0].RequestID == s[1].RequestID {
			t.Error("the retry has the same request id")
		}
	})
}

func TestAPooledSessionKeepsItsTransactionNumber(t *testing.T) {
	in(t, nil, func(w *world) {
		for range 3 {
			w.must(writes[0].do(w.ctx, w.coll))
		}
		for i, ev := range w.started("insert") {
			if n := ev.Command.Lookup("txnNumber").Int64(); n != int64(i+1) {
				t.Errorf("write %d has transaction number %d", i, n)
			}
		}
	})
}

func TestWhichWritesGetATransactionNumber(t *testing.T) {
	for _, c := range []struct {
		name      string
		configure func(*options.ClientOptions)
		run       func() (*mongotest.Deployment, error)
		do        func(w *world) error
		command   string
		want      bool
	}{
		{"insertOne", nil, replicaSet, func(w *world) error { return writes[0].do(w.ctx, w.coll) }, "insert", true},
		{
			"retryWrites=false", func(o *options.ClientOptions) { o.SetRetryWrites(false) }, replicaSet,
			func(w *world) error { return writes[0].do(w.ctx, w.coll) }, "insert", false,
		},
		{
			"unacknowledged", func(o *options.ClientOptions) { o.SetWriteConcern(writeconcern.Unacknowledged()) }, replicaSet,
			func(w *world) error { return writes[0].do(w.ctx, w.coll) }, "insert", false,
		},
		{
			"a standalone", nil,
			standalone,
			func(w *world) error { return writes[0].do(w.ctx, w.coll) }, "insert", false,
		},
		{"drop", nil, replicaSet, func(w *world) error { return w.coll.Drop(w.ctx) }, "drop", false},
		{"runCommand, even of an insert", nil, replicaSet, func(w *world) error {
			return w.client.Database("test").RunCommand(w.ctx, doc("insert", "c", "documents", bson.A{doc("x", 1)})).Err()
		}, "insert", false},
		{"a read", nil, replicaSet, func(w *world) error {
			_, err := w.coll.Find(w.ctx, d{})
			return err
		}, "find", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inside(t, c.run, c.configure, func(w *world) {
				w.must(c.do(w))
				s := w.started(c.command)
				if len(s) != 1 {
					t.Fatalf("%d commands", len(s))
				}
				if _, err := s[0].Command.LookupErr("txnNumber"); (err == nil) != c.want {
					t.Errorf("the command is %v", s[0].Command)
				}
			})
		})
	}
}

func TestRetriesOfAWriteByReply(t *testing.T) {
	const label = "RetryableWriteError"
	off := func(o *options.ClientOptions) { o.SetRetryWrites(false) }
	for _, c := range []struct {
		name      string
		configure func(*options.ClientOptions)
		faults    []mongotest.Fault
		attempts  int
		code      int // of the error; 0: success
	}{
		{"an error with the label", nil, []mongotest.Fault{refuse(1, label)}, 2, 0},
		{"a retryable code without the label, from a 4.4+ server", nil, []mongotest.Fault{refuse(91, "other")}, 1, 91},
		{"an error without the label", nil, []mongotest.Fault{refuse(11000)}, 1, 11000},
		{"two errors with the label: one retry", nil, []mongotest.Fault{refuse(91, label), refuse(10107, label)}, 2, 10107},
		{"with the label but retryWrites=false", off, []mongotest.Fault{refuse(91, label)}, 1, 91},
		{"a network error and retryWrites=false", off, []mongotest.Fault{loseRequest}, 1, -1},
		{"two network errors", nil, []mongotest.Fault{loseRequest, loseRequest}, 2, -1},
		{
			"the second error has NoWritesPerformed: the first is returned", nil,
			[]mongotest.Fault{refuse(91, label), refuse(10107, label, "NoWritesPerformed")},
			2, 91,
		},
		{
			"both errors have NoWritesPerformed: the first is returned", nil,
			[]mongotest.Fault{refuse(91, label, "NoWritesPerformed"), refuse(10107, label, "NoWritesPerformed")},
			2, 91,
		},
		{"a second error that is not retryable is returned", nil, []mongotest.Fault{refuse(91, label), refuse(121)}, 2, 121},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, c.configure, func(w *world) {
				w.seed()
				w.script("update", c.faults...)
				err := writes[2].do(w.ctx, w.coll)
				if n := len(w.started("update")); n != c.attempts {
					t.Errorf("%d attempts, want %d", n, c.attempts)
				}
				checkCode(t, err, c.code)
			})
		})
	}
}

// checkCode checks an error's code: 0 is success, -1 a network error.
func checkCode(t *testing.T, err error, code int) {
	t.Helper()
	var refused mongo.ServerError
	switch {
	case code == 0:
		if err != nil {
			t.Errorf("error: %v", err)
		}
	case code == -1:
		if !mongo.IsNetworkError(err) {
			t.Errorf("not a network error: %v", err)
		}
	case !errors.As(err, &refused) || !refused.HasErrorCode(code):
		t.Errorf("error: %v, want code %d", err, code)
	}
}

func TestTheClientsLabelsFollowRetryWrites(t *testing.T) {
	for _, on := range []bool{true, false} {
		in(t, func(o *options.ClientOptions) { o.SetRetryWrites(on) }, func(w *world) {
			w.seed()
			w.script("update", loseRequest, loseRequest)
			var labelled mongo.LabeledError
			err := writes[2].do(w.ctx, w.coll)
			if !errors.As(err, &labelled) || labelled.HasErrorLabel("RetryableWriteError") != on {
				t.Errorf("retryWrites=%v: %v", on, err)
			}
		})
	}
}

func TestARetryAfterAWriteConcernErrorGetsTheRecordedResult(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		w.script("update", mongotest.Fault{AfterApply: func() { w.must(w.set.StepDown()) }})
		r, err := w.coll.UpdateOne(w.ctx, doc("_id", 1), doc("$inc", doc("n", 1)))
		w.must(err)
		if n := w.applied("update"); n != 1 || r.MatchedCount != 1 {
			t.Errorf("applied %d times, result %+v", n, r)
		}
	})
}

func TestCode20HasTheTextOfTheSpecification(t *testing.T) {
	in(t, nil, func(w *world) {
		w.script("insert", mongotest.Fault{Error: &mongotest.CommandError{
			Code: 20, Message: "Transaction numbers are only allowed on a replica set member or mongos",
		}})
		err := writes[0].do(w.ctx, w.coll)
		const want = "This MongoDB deployment does not support retryable writes. Please add retryWrites=false to your connection string."
		var refused mongo.CommandError
		if !errors.As(err, &refused) || refused.Code != 20 || refused.Message != want {
			t.Errorf("error: %v", err)
		}
		if n := len(w.started("insert")); n != 1 {
			t.Errorf("%d attempts", n)
		}
	})
}

// The text holds wherever the error stands; another error 20 keeps its own.
func TestCode20HasTheTextOfTheSpecificationInsideAReply(t *testing.T) {
	const raw, own = "Transaction numbers are only allowed on a replica set member or mongos", "Cannot do that"
	for text, want := range map[string]string{raw: "does not support retryable writes", own: own} {
		refusal := []any{"code", 20, "errmsg", text}
		inWriteErrors := doc("ok", 1, "n", 0, "writeErrors", bson.A{doc(append([]any{"index", 0}, refusal...)...)})
		inWriteConcern := doc("ok", 1, "n", 1, "writeConcernError", doc(refusal...))
		for where, reply := range map[string]d{"a write error": inWriteErrors, "a write concern error": inWriteConcern} {
			for name, do := range map[string]func(w *world) error{
				"InsertOne":  func(w *world) error { return insertOne(w.ctx, w.coll) },
				"InsertMany": func(w *world) error { return failure(w.coll.InsertMany(w.ctx, []any{doc()})) },
				"BulkWrite":  func(w *world) error { return failure(w.coll.BulkWrite(w.ctx, models{insertOf(1)})) },
			} {
				in(t, nil, func(w *world) {
					w.heal = w.set.Use("insert", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply { return mongotest.NewReply(reply) })
					if err := do(w); err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s, %s: %v", name, where, err)
					}
				})
			}
		}
	}
}

// The prose test of the Retryable Writes specification. The pool has one connection. The error of the first insert
// clears the pool, the checkout of the second insert fails, and both inserts succeed.
func TestPoolClearedIsRetriedProse(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.SetMaxPoolSize(1) }, func(w *world) {
		w.seed()
		blocked := refuse(91, "RetryableWriteError")
		blocked.Delay = time.Second
		w.script("insert", blocked)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if err := writes[0].do(w.ctx, w.coll); err != nil {
					t.Errorf("error: %v", err)
				}
			})
		}
		wg.Wait()
		if n := len(w.started("insert")); n != 3 {
			t.Errorf("%d started events, want 3", n)
		}
		var got []string
		for _, ev := range w.pool {
			switch ev.Type {
			case event.ConnectionCheckedOut, event.ConnectionPoolCleared, event.ConnectionCheckOutFailed:
				got = append(got, ev.Type)
			}
		}
		// The retry of the first insert may be checked out before the event of the second insert's failure.
		failed := 0
		for _, what := range got {
			if what == event.ConnectionCheckOutFailed {
				failed++
			}
		}
		want := []string{event.ConnectionCheckedOut, event.ConnectionPoolCleared}
		if len(got) < 3 || !slices.Equal(got[:2], want) || failed != 1 {
			t.Errorf("pool events %v, want first %v, and one failed checkout", got, want)
		}
	})
}

func TestTheErrorOfTheFirstServerSelectionIsReturnedUnchanged(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.SetServerSelectionTimeout(time.Second) }, func(w *world) {
		w.seed()
		for i := range w.set.Members() {
			w.set.Kill(i)
		}
		w.script("update", loseRequest)
		_ = writes[2].do(w.ctx, w.coll) // gets a network error
		err := writes[2].do(w.ctx, w.coll)
		var history *retry.Error
		if err == nil || strings.Contains(err.Error(), "attempt") || !strings.Contains(err.Error(), "server selection timeout") {
			t.Errorf("error: %v", err)
		}
		if !errors.As(err, &history) || history.Total != 0 || history.StopReason() != retry.StopNoServer || !history.OutcomeKnown() {
			t.Errorf("its history: %v", history)
		}
		if !mongo.IsTimeout(err) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it is no timeout: %v", err)
		}
		if !strings.Contains(err.Error(), "No replica set primary available for query with ReadPreference PRIMARY") {
			t.Errorf("the text of the Read Preferences document is missing: %v", err)
		}
	})
}

func TestWithoutAServerForTheRetryTheFirstErrorIsReturned(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.SetServerSelectionTimeout(time.Second) }, func(w *world) {
		w.seed()
		w.script("update", mongotest.Fault{LoseReply: true, After: func() {
			for i := range w.set.Members() {
				w.set.Kill(i)
			}
		}})
		err := writes[2].do(w.ctx, w.coll)
		var history *retry.Error
		if !mongo.IsNetworkError(err) || !errors.As(err, &history) || history.StopReason() != retry.StopNoServer {
			t.Fatalf("error: %v", err)
		}
		if history.OutcomeKnown() {
			t.Errorf("OutcomeKnown is true: %v", err)
		}
	})
}

func TestInsertManyAcrossBatchesStopsAtAFailedRetry(t *testing.T) {
	inside(t, smallMessages, nil, func(w *world) {
		w.must(w.client.Ping(w.ctx, nil)) // the limits of the servers are known
		w.script("insert", mongotest.Fault{}, loseReply, refuse(91, "RetryableWriteError"))
		r, err := w.coll.InsertMany(w.ctx, sized(8, 1000), options.InsertMany().SetOrdered(false))
		if err == nil || r == nil {
			t.Fatalf("%v, %v", r, err)
		}
		if n := len(w.started("insert")); n != 3 {
			t.Errorf("%d insert commands, want 3: the first batch, the second and its retry", n)
		}
		if n := len(r.InsertedIDs); n != 3 {
			t.Errorf("the result has %d inserted documents, want those of the first batch", n)
		}
	})
}
