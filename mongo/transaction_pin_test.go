package mongo_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// onTwoMongos runs f on a sharded cluster, both of whose mongos are in the latency window.
func onTwoMongos(t *testing.T, f func(w *world)) {
	t.Helper()
	inside(t, sharded(2), func(o *options.ClientOptions) { o.SetLocalThreshold(time.Second) }, func(w *world) {
		w.pass(time.Second) // both are known
		w.seed()
		f(w)
	})
}

// servers returns the mongos that got each of the commands.
func (w *world) servers(command string) map[string]int {
	out := make(map[string]int)
	for _, ev := range w.started(command) {
		address, _, _ := strings.Cut(ev.ConnectionID, "[") // the rest is the number of the connection
		out[address]++
	}
	return out
}

// Transactions, "Mongos Pinning": all commands of a transaction go to one mongos.
func TestATransactionIsPinnedToAMongos(t *testing.T) {
	onTwoMongos(t, func(w *world) {
		seen := make(map[string]int)
		for range 20 {
			w.forget()
			s, ctx := w.transaction()
			for range 5 {
				w.must(insertOne(ctx, w.coll))
				w.must(w.coll.FindOne(ctx, d{}).Err())
			}
			cursor, err := w.coll.Find(ctx, d{}, options.Find().SetBatchSize(2))
			w.must(err)
			for cursor.Next(ctx) {
			}
			w.must(cursor.Err())
			w.must(s.CommitTransaction(w.ctx))
			s.EndSession(w.ctx)
			if to := w.servers(""); len(to) != 1 {
				t.Fatalf("the commands went to %v", to)
			}
			for address := range w.servers("") {
				seen[address]++
			}
		}
		if len(seen) != 2 {
			t.Errorf("the transactions ran on %v", seen)
		}
	})
}

// Server Selection, "Latency window": it is for the reads in a transaction as for all other operations.
func TestAReadThatStartsATransactionSelectsAMongosInTheLatencyWindow(t *testing.T) {
	for threshold, want := range map[time.Duration]int{time.Second: 2, time.Millisecond: 1} {
		inside(t, sharded(2), func(o *options.ClientOptions) {
			o.SetLocalThreshold(threshold)
		}, func(w *world) {
			w.heal = w.set.Use("hello", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
				return mongotest.Fault{Delay: time.Duration(r.Mongos+1) * 20 * time.Millisecond}
			}))
			w.pass(5 * time.Minute) // the round trip times are known
			w.seed()
			s, ctx := w.session()
			defer s.EndSession(w.ctx)
			for range 40 {
				w.must(s.StartTransaction())
				w.must(w.coll.FindOne(ctx, d{}).Err())
				w.must(s.AbortTransaction(w.ctx))
			}
			if to := w.servers("find"); len(to) != want {
				t.Errorf("with a window of %v the reads went to %v", threshold, to)
			}
		})
	}
}

// Prose tests 1 and 2 of "Mongos Pinning": a new transaction and an operation outside select a server again.
func TestWhichOperationUnpins(t *testing.T) {
	for name, find := range map[string]func(w *world, s *mongo.Session, ctx context.Context){
		"of a new transaction": func(w *world, s *mongo.Session, ctx context.Context) {
			w.must(s.StartTransaction())
			w.must(operations["a cursor"].do(ctx, w.coll))
			w.must(s.CommitTransaction(w.ctx))
		},
		"outside a transaction": func(w *world, _ *mongo.Session, ctx context.Context) {
			w.must(operations["a cursor"].do(ctx, w.coll))
		},
	} {
		t.Run(name, func(t *testing.T) {
			onTwoMongos(t, func(w *world) {
				s, ctx := w.transaction()
				defer s.EndSession(w.ctx)
				w.must(insertOne(ctx, w.coll))
				w.must(s.CommitTransaction(w.ctx))
				for range 50 {
					find(w, s, ctx)
				}
				if to := w.servers("find"); len(to) != 2 {
					t.Errorf("the finds went to %v", to)
				}
			})
		})
	}
}

// Transactions, "When to unpin". The commit or abort then goes to the other mongos, with the recovery token.
func TestTheEndOfATransactionGoesToAnotherMongos(t *testing.T) {
	for name, end := range map[string]func(*mongo.Session, context.Context) error{
		"commitTransaction": (*mongo.Session).CommitTransaction, "abortTransaction": (*mongo.Session).AbortTransaction,
	} {
		for cause, fault := range map[string]mongotest.Fault{"a lost reply": loseReply, "a refusal": refuse(91, "RetryableWriteError")} {
			t.Run(name+" after "+cause, func(t *testing.T) {
				onTwoMongos(t, func(w *world) {
					s, ctx := w.transaction()
					defer s.EndSession(w.ctx)
					w.must(insertOne(ctx, w.coll))
					w.script(name, fault)
					err := end(s, w.ctx)
					// The other mongos aborts a transaction whose commit the first one has not begun.
					if recovered := name == "commitTransaction" && fault.Error != nil; recovered != (len(labels(err, transient)) > 0) {
						t.Errorf("error %v", err)
					}
					sent := w.started(name)
					if len(sent) != 2 || len(w.servers(name)) != 2 {
						t.Fatalf("%d commands to %v", len(sent), w.servers(name))
					}
					for _, ev := range sent {
						if fieldsOf(ev, "recoveryToken") == "" {
							t.Errorf("%s has no recovery token", ev.Command)
						}
					}
				})
			})
		}
	}
}

// Rule 2 of "When to unpin": the mongos may be gone, so the abort must not wait for it.
func TestATransientErrorUnpins(t *testing.T) {
	onTwoMongos(t, func(w *world) {
		s, ctx := w.transaction()
		defer s.EndSession(w.ctx)
		w.must(insertOne(ctx, w.coll))
		address, _, _ := strings.Cut(w.started("insert")[0].ConnectionID, "[")
		for i := range w.set.Mongos() {
			if w.set.MongosAddr(i) == address {
				w.set.KillMongos(i)
			}
		}
		if err := insertOne(ctx, w.coll); len(labels(err, transient)) == 0 {
			t.Errorf("an insert after the mongos died: %v", err)
		}
		began := time.Now()
		w.must(s.AbortTransaction(w.ctx))
		if to := w.servers("abortTransaction"); len(to) != 1 || to[address] != 0 || time.Since(began) > time.Second {
			t.Errorf("after %v the abort went to %v, the transaction to %s", time.Since(began), to, address)
		}
	})
}

// The first command that an overloaded mongos refuses may start the transaction on another one.
func TestAFirstCommandThatIsRefusedForOverloadGoesToAnotherMongos(t *testing.T) {
	onTwoMongos(t, func(w *world) {
		s, ctx := w.transaction()
		defer s.EndSession(w.ctx)
		w.script("insert", overloaded)
		w.must(insertOne(ctx, w.coll))
		w.must(s.CommitTransaction(w.ctx))
		if to := w.servers("insert"); len(to) != 2 {
			t.Errorf("the inserts went to %v", to)
		}
	})
}

// Rule 2 again: the next command selects a server, so that in the long run both mongos get some.
func TestTheCommandAfterATransientErrorSelectsAServer(t *testing.T) {
	for name, next := range map[string]func(w *world, s *mongo.Session, ctx context.Context) error{
		"abortTransaction": func(w *world, s *mongo.Session, ctx context.Context) error {
			w.script("insert", refuse(251, transient))
			if err := insertOne(ctx, w.coll); len(labels(err, transient)) == 0 {
				w.Errorf("the insert: %v", err)
			}
			w.forget()
			return s.AbortTransaction(w.ctx)
		},
		"commitTransaction": func(w *world, s *mongo.Session, _ context.Context) error {
			w.script("commitTransaction", refuse(251, transient))
			if err := s.CommitTransaction(w.ctx); len(labels(err, transient)) == 0 {
				w.Errorf("the commit: %v", err)
			}
			w.forget()
			_ = s.CommitTransaction(w.ctx) // the other mongos may know nothing of it
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			onTwoMongos(t, func(w *world) {
				other := false
				for range 40 {
					w.heal()
					s, ctx := w.transaction()
					w.must(insertOne(ctx, w.coll))
					pinned, _, _ := strings.Cut(w.started("insert")[0].ConnectionID, "[")
					w.must(next(w, s, ctx))
					other = other || w.servers(name)[pinned] == 0
					w.forget()
					s.EndSession(w.ctx)
				}
				if !other {
					t.Error("the command always went to the pinned mongos")
				}
			})
		})
	}
}

// A recovery token is of one transaction.
func TestARecoveryTokenIsNotSentWithTheNextTransaction(t *testing.T) {
	onTwoMongos(t, func(w *world) {
		s, ctx := w.transaction()
		defer s.EndSession(w.ctx)
		w.must(insertOne(ctx, w.coll))
		w.must(s.CommitTransaction(w.ctx))
		w.set.Use("insert", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			reply := next(r)
			if reply != nil { // the connection is still there
				reply.Body = without(t, reply.Body, "recoveryToken")
			}
			return reply
		})
		w.must(s.StartTransaction())
		w.must(insertOne(ctx, w.coll))
		w.must(s.CommitTransaction(w.ctx))
		sent := w.started("commitTransaction")
		if fieldsOf(sent[0], "recoveryToken") == "" || fieldsOf(sent[1], "recoveryToken") != "" {
			t.Errorf("the commits are %s and %s", sent[0].Command, sent[1].Command)
		}
	})
}
