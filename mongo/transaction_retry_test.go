package mongo_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

var overloaded = refuse(462, "SystemOverloadedError", "RetryableError")

// concerns returns the write concerns of the commands of that name.
func (w *world) concerns(command string) []string {
	var out []string
	for _, ev := range w.started(command) {
		out = append(out, fieldsOf(ev, "writeConcern"))
	}
	return out
}

// Transactions, "Interaction with Retryable Writes": nothing in a transaction is retried but for overload. The error says why.
func TestAnOperationInATransactionIsNotRetried(t *testing.T) {
	for name, fault := range map[string]mongotest.Fault{
		"a lost reply": loseReply, "a lost request": loseRequest, "a refusal": refuse(91, "RetryableWriteError"),
	} {
		for _, op := range []string{"a write", "a read of one document"} {
			t.Run(name+" of "+op, func(t *testing.T) {
				in(t, nil, func(w *world) {
					w.seed()
					s, ctx := w.transaction()
					defer s.EndSession(w.ctx)
					w.must(insertOne(ctx, w.coll))
					w.forget()
					w.script(operations[op].command, fault)
					err := operations[op].do(ctx, w.coll)
					var history *retry.Error
					if !errors.As(err, &history) || history.Total != 1 || history.StopReason() != retry.StopInTransaction || len(w.started("")) != 1 {
						t.Errorf("%d commands were sent: %v", len(w.started("")), err)
					}
				})
			})
		}
	}
}

// Transactions, "Interaction with Client Backpressure": the retry of the first command starts the transaction again.
func TestARetryOfTheFirstCommandForOverloadStartsTheTransactionAgain(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		s, ctx := w.transaction()
		defer s.EndSession(w.ctx)
		w.script("insert", overloaded, overloaded, mongotest.Fault{}, overloaded)
		w.must(insertOne(ctx, w.coll))
		w.must(insertOne(ctx, w.coll))
		w.must(s.CommitTransaction(w.ctx))
		var starts []bool
		for _, ev := range w.started("insert") {
			_, err := ev.Command.LookupErr("startTransaction")
			starts = append(starts, err == nil)
		}
		if !slices.Equal(starts, []bool{true, true, true, false, false}) || w.documents() != 3 {
			t.Errorf("startTransaction of the inserts: %v; %d documents", starts, w.documents())
		}
	})
}

// After the last retry the transaction is in progress, so a commit is sent and fails.
func TestATransactionWhoseFirstCommandFailedIsInProgress(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		s, ctx := w.transaction()
		defer s.EndSession(w.ctx)
		w.script("insert", overloaded, overloaded, overloaded)
		if err := insertOne(ctx, w.coll); err == nil {
			t.Fatal("the insert succeeded")
		}
		if err := s.CommitTransaction(w.ctx); err == nil || len(w.started("commitTransaction")) != 1 {
			t.Errorf("%d commits were sent: %v", len(w.started("commitTransaction")), err)
		}
	})
}

// Transactions, "writeConcern for commitTransaction attempts" and "Interaction with Client Backpressure".
func TestTheWriteConcernOfACommit(t *testing.T) {
	const own = `writeConcern: {"w": {"$numberInt":"2"},"j": true}`
	const majority = `writeConcern: {"w": "majority","j": true,"wtimeout": {"$numberLong":"10000"}}`
	for _, c := range []struct {
		name   string
		faults []mongotest.Fault
		calls  int
		want   []string
	}{
		{"the first", nil, 1, []string{own}},
		{"a call after a success", nil, 2, []string{own, majority}},
		{"a retry after a network error", []mongotest.Fault{loseReply}, 1, []string{own, majority}},
		{"a retry after overload", []mongotest.Fault{overloaded}, 1, []string{own, own}},
		{"a retry after overload, then another error", []mongotest.Fault{overloaded, loseReply}, 1, []string{own, own, majority}},
		{"a retry after another error, then overload", []mongotest.Fault{loseReply, overloaded}, 1, []string{own, majority, majority}},
		{"a call after an error", []mongotest.Fault{refuse(2)}, 2, []string{own, majority}},
		{
			"a call after errors for overload only",
			[]mongotest.Fault{overloaded, overloaded, overloaded},
			2,
			[]string{own, own, own, own},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.seed()
				journaled := true
				s, ctx := w.transaction(options.Transaction().SetWriteConcern(&writeconcern.WriteConcern{W: 2, Journal: &journaled}))
				defer s.EndSession(w.ctx)
				w.must(insertOne(ctx, w.coll))
				w.script("commitTransaction", c.faults...)
				var err error
				for range c.calls {
					err = s.CommitTransaction(w.ctx)
				}
				w.must(err)
				if got := w.concerns("commitTransaction"); !slices.Equal(got, c.want) {
					t.Errorf("write concerns %q, want %q", got, c.want)
				}
			})
		})
	}
}

// Transactions, "commitTransaction" and "abortTransaction": they are retried also with retryWrites=false.
func TestTheEndOfATransactionIsRetried(t *testing.T) {
	for name, faults := range map[string][]mongotest.Fault{
		"a lost request": {loseRequest}, "a lost reply": {loseReply}, "a refusal": {refuse(91, "RetryableWriteError")},
		"overload": {overloaded, overloaded},
	} {
		for command, end := range map[string]func(*mongo.Session, context.Context) error{
			"commitTransaction": (*mongo.Session).CommitTransaction, "abortTransaction": (*mongo.Session).AbortTransaction,
		} {
			t.Run(command+" after "+name, func(t *testing.T) {
				in(t, func(o *options.ClientOptions) { o.SetRetryWrites(false) }, func(w *world) {
					s, ctx := w.transaction()
					w.must(insertOne(ctx, w.coll))
					w.script(command, faults...)
					w.must(end(s, w.ctx))
					s.EndSession(w.ctx)
					sent := w.started(command)
					if len(sent) != 1+len(faults) || !sent[0].Command.Lookup("txnNumber").Equal(sent[1].Command.Lookup("txnNumber")) {
						t.Fatalf("%d commands were sent", len(sent))
					}
					want := 1
					if command == "abortTransaction" {
						want = 0
					}
					if n := w.documents(); n != want {
						t.Errorf("%d documents, want %d", n, want)
					}
				})
			})
		}
	}
}

// Transactions, "abortTransaction": its errors are not returned.
func TestTheErrorOfAnAbortIsNotReturned(t *testing.T) {
	for name, faults := range map[string][]mongotest.Fault{
		"network errors": {loseReply, loseReply}, "a refusal": {refuse(2)}, "overload": {overloaded, overloaded, overloaded},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				s, ctx := w.transaction()
				defer s.EndSession(w.ctx)
				w.must(insertOne(ctx, w.coll))
				w.script("abortTransaction", faults...)
				w.must(s.AbortTransaction(w.ctx))
				if n := len(w.started("abortTransaction")); n != len(faults) || s.TransactionRunning() {
					t.Errorf("%d aborts were sent; running: %v", n, s.TransactionRunning())
				}
			})
		})
	}
}

// Driver Sessions: a transaction and a retryable write get their numbers from one counter.
func TestTransactionsAndRetryableWritesCountTogether(t *testing.T) {
	in(t, nil, func(w *world) {
		s, ctx := w.session()
		w.must(insertOne(ctx, w.coll))
		w.must(s.StartTransaction())
		w.must(insertOne(ctx, w.coll))
		w.must(insertOne(ctx, w.coll))
		w.must(s.CommitTransaction(w.ctx))
		w.must(insertOne(ctx, w.coll))
		w.must(s.StartTransaction())
		w.must(s.AbortTransaction(w.ctx))
		w.must(s.StartTransaction())
		w.must(insertOne(ctx, w.coll))
		s.EndSession(w.ctx)
		w.must(insertOne(w.ctx, w.coll)) // takes the server session from the pool
		var numbers []int64
		for _, ev := range w.started("insert") {
			numbers = append(numbers, ev.Command.Lookup("txnNumber").AsInt64())
		}
		if want := []int64{1, 2, 2, 3, 5, 6}; !slices.Equal(numbers, want) {
			t.Errorf("the numbers are %v, want %v", numbers, want)
		}
	})
}

func TestTheEndOfASessionAbortsItsTransaction(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(w *world, s *mongo.Session)
		want int
	}{
		"EndSession": {func(w *world, s *mongo.Session) { s.EndSession(w.ctx) }, 1},
		"EndSession with a context that has ended": {func(w *world, s *mongo.Session) {
			ctx, cancel := context.WithCancel(w.ctx)
			cancel()
			s.EndSession(ctx)
		}, 1},
		"EndSession without a context": {func(_ *world, s *mongo.Session) { s.EndSession(nil) }, 1}, //nolint:staticcheck // a nil context is allowed
		"EndSession after a commit": {func(w *world, s *mongo.Session) {
			w.must(s.CommitTransaction(w.ctx))
			s.EndSession(w.ctx)
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				s, ctx := w.transaction()
				w.must(insertOne(ctx, w.coll))
				c.end(w, s)
				if n := len(w.started("abortTransaction")); n != c.want || s.TransactionRunning() && c.want == 0 {
					t.Errorf("%d aborts were sent, want %d", n, c.want)
				}
				if n := w.client.NumberSessionsInProgress(); n != 0 {
					t.Errorf("%d sessions have not ended", n)
				}
			})
		})
	}
	t.Run("UseSession", func(t *testing.T) {
		in(t, nil, func(w *world) {
			w.must(w.client.UseSession(w.ctx, func(ctx context.Context) error {
				w.must(mongo.SessionFromContext(ctx).StartTransaction())
				return insertOne(ctx, w.coll)
			}))
			if n := len(w.started("abortTransaction")); n != 1 || w.documents() != 0 {
				t.Errorf("%d aborts were sent; %d documents", n, w.documents())
			}
		})
	})
}

// The server does not answer: the abort must not hold the caller, whose context has ended.
func TestTheEndOfASessionWhoseContextHasEndedTakesASecondAtMost(t *testing.T) {
	in(t, nil, func(w *world) {
		s, ctx := w.transaction()
		w.must(insertOne(ctx, w.coll))
		w.script("abortTransaction", mongotest.Fault{LoseRequest: true, Silent: true})
		short, cancel := context.WithTimeout(w.ctx, 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		s.EndSession(short)
		if took := time.Since(began); took < time.Second || took > 1200*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// A lost reply leaves it unknown whether the transaction was committed; the retry shows it, and commits no second time.
func TestACommitWhoseReplyIsLostIsAppliedOnce(t *testing.T) {
	in(t, nil, func(w *world) {
		s, ctx := w.transaction()
		defer s.EndSession(w.ctx)
		_, err := w.coll.UpdateOne(ctx, doc("_id", 1), doc("$inc", doc("n", 1)), options.UpdateOne().SetUpsert(true))
		w.must(err)
		w.script("commitTransaction", loseReply, loseReply)
		err = s.CommitTransaction(w.ctx)
		if err == nil || len(labels(err, "UnknownTransactionCommitResult")) == 0 {
			t.Errorf("after two lost replies: %v", err)
		}
		w.must(s.CommitTransaction(w.ctx))
		w.set.CheckDocuments(t, "test.c", doc("_id", 1, "n", 1))
	})
}

// The new primary knows nothing of the transaction: its commit fails, and the whole can be tried again.
func TestAPrimaryDiesInATransaction(t *testing.T) {
	in(t, nil, func(w *world) {
		s, ctx := w.transaction()
		defer s.EndSession(w.ctx)
		w.must(insertOne(ctx, w.coll))
		w.set.Kill(w.set.Primary())
		err := s.CommitTransaction(w.ctx)
		if err == nil || len(labels(err, "TransientTransactionError", "UnknownTransactionCommitResult")) != 1 {
			t.Errorf("the commit: %v", err)
		}
		if n := w.documents(); n != 0 {
			t.Errorf("%d documents", n)
		}
		w.must(s.StartTransaction())
		w.must(insertOne(ctx, w.coll))
		w.must(s.CommitTransaction(w.ctx))
		if n := w.documents(); n != 1 {
			t.Errorf("%d documents after the second try", n)
		}
	})
}

// The bubble waits for all goroutines, so one that is left fails the test.
func TestDisconnectInATransactionLeavesNothing(t *testing.T) {
	for name, run := range map[string]func() (*mongotest.Deployment, error){"a replica set": replicaSet, "two mongos": sharded(2)} {
		t.Run(name, func(t *testing.T) {
			inside(t, run, nil, func(w *world) {
				w.must(insertOne(w.ctx, w.coll))
				w.pass(time.Minute)
				before := w.set.Counters().Current
				second, err := mongo.Connect(options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer()))
				w.must(err)
				s, err := second.StartSession()
				w.must(err)
				w.must(s.StartTransaction())
				ctx, coll := mongo.NewSessionContext(w.ctx, s), second.Database("test").Collection("c")
				w.must(insertOne(ctx, coll))
				_, err = coll.Find(ctx, d{}, options.Find().SetBatchSize(1))
				w.must(err)
				w.must(second.Disconnect(w.ctx))
				if err := s.CommitTransaction(w.ctx); !errors.Is(err, mongo.ErrClientDisconnected) {
					t.Errorf("a commit after Disconnect: %v", err)
				}
				s.EndSession(w.ctx)
				w.pass(20 * time.Second) // a server closes a connection only when it has a hello to stream
				if after := w.set.Counters().Current; after != before {
					t.Errorf("%d connections are open, before there were %d", after, before)
				}
			})
		})
	}
}

// A snapshot of the counters before and after shows whether a write in a transaction is all or nothing.
func TestATransactionIsAllOrNothing(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*mongo.Session, context.Context) error
		want int
	}{"commit": {(*mongo.Session).CommitTransaction, 5}, "abort": {(*mongo.Session).AbortTransaction, 0}} {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				s, ctx := w.transaction()
				defer s.EndSession(w.ctx)
				_, err := w.coll.InsertMany(ctx, bson.A{d{}, d{}, d{}, d{}})
				w.must(err)
				w.must(insertOne(ctx, w.coll))
				w.must(c.end(s, w.ctx))
				if n := w.documents(); n != c.want {
					t.Errorf("%d documents, want %d", n, c.want)
				}
			})
		})
	}
}

// killCursors cannot start a transaction, and need not be in one.
func TestACursorFromBeforeATransactionCanBeClosed(t *testing.T) {
	in(t, nil, func(w *world) {
		w.must(w.set.Insert("test.c", doc("_id", 1), doc("_id", 2)))
		s, ctx := w.session()
		defer s.EndSession(w.ctx)
		cursor, err := w.coll.Find(ctx, d{}, options.Find().SetBatchSize(1))
		w.must(err)
		w.must(s.StartTransaction())
		w.must(cursor.Close(ctx))
		w.must(insertOne(ctx, w.coll))
		w.must(s.CommitTransaction(w.ctx))
		if _, err := w.started("insert")[0].Command.LookupErr("startTransaction"); err != nil || w.documents() != 3 {
			t.Errorf("%d documents; the insert is %s", w.documents(), w.started("insert")[0].Command)
		}
	})
}

// Transactions, "UnknownTransactionCommitResult": after an attempt that may have committed the transaction, an error says that
// this is unknown unless it shows the outcome, although the same error of a first attempt does not. The earlier attempt may be one
// of an earlier call.
func TestAnErrorAfterAnAttemptThatMayHaveCommittedSaysSo(t *testing.T) {
	const transient, unknown = "TransientTransactionError", "UnknownTransactionCommitResult"
	interrupted := refuse(11601)
	for _, c := range []struct {
		name   string
		faults []mongotest.Fault // of the commits that are sent
		calls  int
		want   []string
	}{
		{"the first attempt was refused", []mongotest.Fault{interrupted}, 1, nil},
		{"the retry was refused", []mongotest.Fault{loseReply, interrupted}, 1, []string{unknown}},
		{"the request was lost, as far as the client knows like the reply", []mongotest.Fault{loseRequest, refuse(2)}, 1, []string{unknown}},
		{"the retries were refused for overload", []mongotest.Fault{loseReply, overloaded, overloaded}, 1, []string{unknown}},
		{"all were refused for overload", []mongotest.Fault{overloaded, overloaded, overloaded}, 1, nil},
		{"an overload between", []mongotest.Fault{overloaded, loseReply, overloaded}, 1, []string{unknown}},
		{"the next call was refused", []mongotest.Fault{loseReply, loseReply, interrupted}, 2, []string{unknown}},
		{"the retry shows that it was aborted", []mongotest.Fault{loseRequest, refuse(251, transient)}, 1, []string{transient}},
		{"a first attempt that was refused, and a call that was refused", []mongotest.Fault{interrupted, interrupted}, 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.seed()
				s, ctx := w.transaction()
				defer s.EndSession(w.ctx)
				w.must(insertOne(ctx, w.coll))
				w.script("commitTransaction", c.faults...)
				var err error
				for range c.calls {
					err = s.CommitTransaction(w.ctx)
				}
				if got := labels(err, transient, unknown); err == nil || !slices.Equal(got, c.want) || len(w.started("commitTransaction")) != len(c.faults) {
					t.Errorf("after %d commits the labels are %v, want %v: %v", len(w.started("commitTransaction")), got, c.want, err)
				}
			})
		})
	}
}

// Transactions, "UnknownTransactionCommitResult": a write concern error shows that the server has committed, and 79 and 100 say only that
// the write concern is wrong. So nothing is unknown, although the reply of the attempt before was lost.
func TestAWriteConcernErrorOfARetriedCommitShowsThatItIsCommitted(t *testing.T) {
	for code, want := range map[int]int{79: 0, 100: 0, 64: 1, 91: 1} {
		in(t, nil, func(w *world) {
			w.seed()
			s, ctx := w.transaction()
			defer s.EndSession(w.ctx)
			w.must(insertOne(ctx, w.coll))
			attempts := 0
			w.set.Use("commitTransaction", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				reply := next(r)
				if attempts++; attempts == 1 {
					reply.Lost = true
					return reply
				}
				return mongotest.NewReply(doc("ok", 1, "writeConcernError", doc("code", code, "errmsg", "scripted")))
			})
			err := s.CommitTransaction(w.ctx)
			if n := len(labels(err, unknown)); err == nil || attempts != 2 || n != want {
				t.Errorf("code %d, %d attempts: %v", code, attempts, err)
			}
		})
	}
}

// A commit that was not sent leaves nothing unknown, and changes nothing about what an earlier one left.
func TestACommitThatIsNotSentLeavesTheOutcomeAsItWas(t *testing.T) {
	const unknown = "UnknownTransactionCommitResult"
	for _, sentBefore := range []bool{false, true} {
		in(t, nil, func(w *world) {
			w.set.Use("hello", mongotest.Always(mongotest.Fault{Delay: 10 * time.Millisecond})) // the round trip time
			w.reconnect()
			w.seed()
			s, ctx := w.transaction()
			defer s.EndSession(w.ctx)
			w.must(insertOne(ctx, w.coll))
			w.pass(time.Minute)
			if sentBefore {
				w.script("commitTransaction", loseReply, loseReply)
				if err := s.CommitTransaction(w.ctx); err == nil {
					t.Error("the commit succeeded")
				}
				w.pass(time.Minute)
			}
			w.forget()
			short, cancel := context.WithTimeout(w.ctx, 5*time.Millisecond)
			err := s.CommitTransaction(short)
			cancel()
			if n := len(w.started("commitTransaction")); n != 0 || !errors.Is(err, context.DeadlineExceeded) || (len(labels(err, unknown)) == 1) != sentBefore {
				t.Errorf("sent before: %v; %d commits were sent: %v", sentBefore, n, err)
			}
			ended, cancel := context.WithCancel(w.ctx)
			cancel()
			err = s.CommitTransaction(ended)
			if bare := err == context.Canceled; bare == sentBefore || (len(labels(err, unknown)) == 1) != sentBefore { //nolint:errorlint // programs compare it so
				t.Errorf("sent before: %v; the context has ended: %v", sentBefore, err)
			}
			w.script("commitTransaction", refuse(11601))
			if err := s.CommitTransaction(w.ctx); err == nil || (len(labels(err, unknown)) == 1) != sentBefore {
				t.Errorf("sent before: %v; refused: %v", sentBefore, err)
			}
		})
	}
}
