package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// transaction starts a session with a running transaction, and returns it and its context.
func (w *world) transaction(opts ...options.Lister[options.TransactionOptions]) (*mongo.Session, context.Context) {
	w.Helper()
	s, ctx := w.session()
	w.must(s.StartTransaction(opts...))
	return s, ctx
}

func insertOne(ctx context.Context, coll *mongo.Collection) error {
	_, err := coll.InsertOne(ctx, d{})
	return err
}

// fieldsOf returns the text of the fields that events of a command have, as extended JSON.
func fieldsOf(ev *event.CommandStartedEvent, names ...string) string {
	var out []string
	for _, name := range names {
		if v, err := ev.Command.LookupErr(name); err == nil {
			out = append(out, name+": "+v.String())
		}
	}
	return strings.Join(out, ", ")
}

// check compares a text with the wanted one.
func (w *world) check(what, got, want string) {
	w.Helper()
	if got != want {
		w.Errorf("%s: %s, want %s", what, got, want)
	}
}

// documents returns the number of documents in the collection.
func (w *world) documents() int {
	w.Helper()
	n, err := w.set.Count("test.c", d{})
	w.must(err)
	return n
}

// Transactions, "ClientSession changes": which call is allowed in which state.
func TestTheStatesOfATransaction(t *testing.T) {
	const started, noneStarted = "transaction already in progress", "no transaction started"
	calls := []struct {
		name string
		do   func(s *mongo.Session, ctx context.Context) error
	}{
		{"start", func(s *mongo.Session, _ context.Context) error { return s.StartTransaction() }},
		{"commit", func(s *mongo.Session, ctx context.Context) error { return s.CommitTransaction(ctx) }},
		{"abort", func(s *mongo.Session, ctx context.Context) error { return s.AbortTransaction(ctx) }},
	}
	operation := func(w *world, s *mongo.Session) { w.must(insertOne(mongo.NewSessionContext(w.ctx, s), w.coll)) }
	for _, c := range []struct {
		state   string
		reach   func(w *world, s *mongo.Session)
		running bool
		want    [3]string
	}{
		{"no transaction", func(*world, *mongo.Session) {}, false, [3]string{"", noneStarted, noneStarted}},
		{"starting", func(w *world, s *mongo.Session) { w.must(s.StartTransaction()) }, true, [3]string{started, "", ""}},
		{"in progress", func(w *world, s *mongo.Session) {
			w.must(s.StartTransaction())
			operation(w, s)
		}, true, [3]string{started, "", ""}},
		{"committed", func(w *world, s *mongo.Session) {
			w.must(s.StartTransaction())
			operation(w, s)
			w.must(s.CommitTransaction(w.ctx))
		}, false, [3]string{"", "", "cannot call abortTransaction after calling commitTransaction"}},
		{"aborted", func(w *world, s *mongo.Session) {
			w.must(s.StartTransaction())
			operation(w, s)
			w.must(s.AbortTransaction(w.ctx))
		}, false, [3]string{"", "cannot call commitTransaction after calling abortTransaction", "cannot call abortTransaction twice"}},
		{"committed, then an operation", func(w *world, s *mongo.Session) {
			w.must(s.StartTransaction())
			operation(w, s)
			w.must(s.CommitTransaction(w.ctx))
			operation(w, s)
		}, false, [3]string{"", noneStarted, noneStarted}},
		{"aborted, then an operation", func(w *world, s *mongo.Session) {
			w.must(s.StartTransaction())
			w.must(s.AbortTransaction(w.ctx))
			operation(w, s)
		}, false, [3]string{"", noneStarted, noneStarted}},
		{"ended", func(w *world, s *mongo.Session) {
			w.must(s.StartTransaction())
			s.EndSession(w.ctx)
		}, false, [3]string{"ended session was used", "ended session was used", "ended session was used"}},
		{"starting, and an operation that is refused before it is sent", func(w *world, s *mongo.Session) {
			w.must(s.StartTransaction())
			if _, err := w.coll.InsertOne(mongo.NewSessionContext(w.ctx, s), make(chan int)); err == nil {
				w.Error("a channel was inserted")
			}
		}, true, [3]string{started, "", ""}},
	} {
		t.Run(c.state, func(t *testing.T) {
			for i, call := range calls {
				in(t, nil, func(w *world) {
					s, _ := w.session()
					defer s.EndSession(w.ctx)
					c.reach(w, s)
					if s.TransactionRunning() != c.running {
						t.Errorf("a transaction is running: %v", !c.running)
					}
					if err := call.do(s, w.ctx); fmt.Sprint(err) != c.want[i] && (err != nil || c.want[i] != "") {
						t.Errorf("%s: %v, want %q", call.name, err, c.want[i])
					}
				})
			}
		})
	}
}

// Transactions, "Transactions Wire Protocol".
func TestTheFieldsOfTheCommandsOfATransaction(t *testing.T) {
	fields := []string{"startTransaction", "autocommit", "readConcern", "writeConcern", "recoveryToken", "maxTimeMS"}
	majority := options.Transaction().SetReadConcern(readconcern.Snapshot()).SetWriteConcern(writeconcern.Majority())
	for name, operation := range operations {
		if operation.command == "ping" {
			continue // not allowed in a transaction
		}
		t.Run(name, func(t *testing.T) {
			in(t, func(o *options.ClientOptions) {
				o.SetReadConcern(readconcern.Local()).SetWriteConcern(writeconcern.W1())
			}, func(w *world) {
				w.must(w.set.Insert("test.c", doc("_id", 1)))
				s, ctx := w.transaction(majority)
				defer s.EndSession(w.ctx)
				w.must(operation.do(ctx, w.coll))
				w.must(insertOne(ctx, w.coll))
				w.must(w.coll.FindOne(ctx, d{}).Err())
				w.must(s.CommitTransaction(w.ctx))
				w.must(insertOne(ctx, w.coll))
				sent := w.started("")
				for i, want := range []string{
					`startTransaction: true, autocommit: false, readConcern: {"level": "snapshot"}`,
					`autocommit: false`,
					`autocommit: false`,
					`autocommit: false, writeConcern: {"w": "majority"}`,
				} {
					w.check(sent[i].CommandName, fieldsOf(sent[i], fields...), want)
					w.check("its transaction and session", fieldsOf(sent[i], "txnNumber", "lsid"),
						`txnNumber: {"$numberLong":"1"}, lsid: `+s.ID().String())
				}
				if last := sent[4]; sent[3].DatabaseName != "admin" || last.Command.Lookup("txnNumber").AsInt64() != 2 {
					t.Errorf("%s was sent to %s; the next write is %s", sent[3].CommandName, sent[3].DatabaseName, last.Command)
				}
			})
		})
	}
}

// A command of the application gets the fields of the transaction too (Transactions, "Generic RunCommand helper").
func TestRunCommandInATransaction(t *testing.T) {
	in(t, nil, func(w *world) {
		s, ctx := w.transaction(options.Transaction().SetReadConcern(readconcern.Majority()))
		defer s.EndSession(w.ctx)
		w.must(w.coll.Database().RunCommand(ctx, doc("insert", "c", "documents", bson.A{doc("_id", 7)})).Err())
		w.check("the command", fieldsOf(w.started("insert")[0], "txnNumber", "startTransaction", "autocommit", "readConcern"),
			`txnNumber: {"$numberLong":"1"}, startTransaction: true, autocommit: false, readConcern: {"level": "majority"}`)
		if n := w.documents(); n != 0 {
			t.Errorf("%d documents before the commit", n)
		}
		w.must(s.CommitTransaction(w.ctx))
		if n := w.documents(); n != 1 {
			t.Errorf("%d documents after the commit", n)
		}
	})
}

// Transactions, "Interaction with Causal Consistency".
func TestTheFirstCommandOfATransactionIsCausallyConsistent(t *testing.T) {
	in(t, nil, func(w *world) {
		s, ctx := w.session()
		defer s.EndSession(w.ctx)
		w.must(insertOne(ctx, w.coll))
		at := *s.OperationTime()
		w.must(s.StartTransaction())
		w.must(insertOne(ctx, w.coll))
		w.must(w.coll.FindOne(ctx, d{}).Err())
		w.must(s.AbortTransaction(w.ctx))
		sent := w.started("")
		got, i := sent[1].Command.Lookup("readConcern", "afterClusterTime").Timestamp()
		if got != at.T || i != at.I {
			t.Errorf("the first command is %s, want the time %v", sent[1].Command, at)
		}
		w.check("the second", fieldsOf(sent[2], "readConcern"), "")
	})
}

// Transactions, "TransactionOptions": the options of the transaction, else of the session, else of the client.
func TestTheOptionsOfATransactionAreInherited(t *testing.T) {
	level := func(l string) *readconcern.ReadConcern { return &readconcern.ReadConcern{Level: l} }
	w2, journal := &writeconcern.WriteConcern{W: 2}, writeconcern.Journaled()
	for _, c := range []struct {
		name          string
		client        *options.ClientOptions
		session       *options.TransactionOptionsBuilder
		transaction   *options.TransactionOptionsBuilder
		first, commit string
	}{
		{"none", options.Client(), nil, options.Transaction(), "", ""},
		{
			"the client's", options.Client().SetReadConcern(level("majority")).SetWriteConcern(w2), nil, options.Transaction(),
			`readConcern: {"level": "majority"}`, `writeConcern: {"w": {"$numberInt":"2"}}`,
		},
		{
			"the session's", options.Client().SetReadConcern(level("majority")).SetWriteConcern(w2),
			options.Transaction().SetReadConcern(level("snapshot")).SetWriteConcern(journal), options.Transaction(),
			`readConcern: {"level": "snapshot"}`, `writeConcern: {"j": true}`,
		},
		{
			"the transaction's", options.Client().SetReadConcern(level("majority")).SetWriteConcern(w2),
			options.Transaction().SetReadConcern(level("snapshot")).SetWriteConcern(journal),
			options.Transaction().SetReadConcern(level("local")).SetWriteConcern(writeconcern.Majority()),
			`readConcern: {"level": "local"}`, `writeConcern: {"w": "majority"}`,
		},
		{
			"the server's default instead of the session's", options.Client(),
			options.Transaction().SetReadConcern(level("snapshot")).SetWriteConcern(journal),
			options.Transaction().SetReadConcern(level("")).SetWriteConcern(&writeconcern.WriteConcern{}), "", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(o *options.ClientOptions) {
				o.ReadConcern, o.WriteConcern = c.client.ReadConcern, c.client.WriteConcern
			}, func(w *world) {
				for _, end := range []func(*mongo.Session) error{
					func(s *mongo.Session) error { return s.CommitTransaction(w.ctx) },
					func(s *mongo.Session) error { return s.AbortTransaction(w.ctx) },
				} {
					w.forget()
					s, ctx := w.session(options.Session().SetDefaultTransactionOptions(c.session))
					w.must(s.StartTransaction(c.transaction))
					w.must(insertOne(ctx, w.coll))
					w.must(end(s))
					s.EndSession(w.ctx)
					sent := w.started("")
					w.check("the first command", fieldsOf(sent[0], "readConcern", "writeConcern"), c.first)
					w.check(sent[1].CommandName, fieldsOf(sent[1], "readConcern", "writeConcern"), c.commit)
				}
			})
		})
	}
}

func TestATransactionWithAnUnacknowledgedWriteConcernIsRefused(t *testing.T) {
	in(t, nil, func(w *world) {
		s, ctx := w.session()
		defer s.EndSession(w.ctx)
		err := s.StartTransaction(options.Transaction().SetWriteConcern(writeconcern.Unacknowledged()))
		if err == nil || err.Error() != "transactions do not support unacknowledged write concerns" || s.TransactionRunning() {
			t.Errorf("error %v, running: %v", err, s.TransactionRunning())
		}
		negative := options.Transaction().SetWriteConcern(&writeconcern.WriteConcern{W: -1})
		if err := s.StartTransaction(negative); err == nil || !strings.Contains(err.Error(), "cannot be a negative number") {
			t.Errorf("w: -1: %v", err)
		}
		w.must(insertOne(ctx, w.coll))
	})
}

func TestATransactionInASnapshotSessionIsRefused(t *testing.T) {
	in(t, nil, func(w *world) {
		s, _ := w.session(options.Session().SetSnapshot(true))
		defer s.EndSession(w.ctx)
		if err := s.StartTransaction(); err == nil || err.Error() != "transactions are not supported in snapshot sessions" {
			t.Errorf("error %v", err)
		}
	})
}

// Prose test "Write concern not inherited from collection object inside transaction".
func TestTheWriteConcernOfACollectionDoesNotCountInATransaction(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		coll := w.coll.Database().Collection("c", options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
		s, ctx := w.transaction()
		defer s.EndSession(w.ctx)
		result, err := coll.InsertOne(ctx, doc("n", 1))
		w.must(err)
		many, err := coll.InsertMany(ctx, []d{doc("n", 2)})
		w.must(err)
		updated, err := coll.UpdateOne(ctx, doc("n", 2), doc("$set", doc("n", 3)))
		w.must(err)
		deleted, err := coll.DeleteOne(ctx, doc("n", 3))
		w.must(err)
		if !result.Acknowledged || !many.Acknowledged || !updated.Acknowledged || !deleted.Acknowledged || deleted.DeletedCount != 1 {
			t.Errorf("the results are %+v, %+v, %+v and %+v", result, many, updated, deleted)
		}
		w.must(s.CommitTransaction(w.ctx))
		if n := w.documents(); n != 2 {
			t.Errorf("%d documents, want 2", n)
		}
		var refused error
		_, refused = coll.InsertOne(ctx, doc("n", 4))
		if refused == nil || !strings.Contains(refused.Error(), "unacknowledged") {
			t.Errorf("an unacknowledged write in the session after the transaction: %v", refused)
		}
	})
}

// Transactions, "readPreference".
func TestTheReadPreferenceOfATransactionMustBePrimary(t *testing.T) {
	const want = "read preference in a transaction must be primary"
	secondary := options.Transaction().SetReadPreference(readpref.Secondary())
	in(t, func(o *options.ClientOptions) { o.SetReadPreference(readpref.Secondary()) }, func(w *world) {
		for name, c := range map[string]struct {
			options *options.TransactionOptionsBuilder
			do      func(ctx context.Context) error
			want    string
		}{
			"a read with the client's": {options.Transaction(), func(ctx context.Context) error { return w.coll.FindOne(ctx, d{}).Err() }, want},
			"a cursor": {secondary, func(ctx context.Context) error {
				_, err := w.coll.Find(ctx, d{})
				return err
			}, want},
			"a command": {secondary, func(ctx context.Context) error {
				return w.coll.Database().RunCommand(ctx, doc("find", "c")).Err()
			}, want},
			"a command with its own": {options.Transaction().SetReadPreference(readpref.Primary()), func(ctx context.Context) error {
				return w.coll.Database().RunCommand(ctx, doc("find", "c"), options.RunCmd().SetReadPreference(readpref.Nearest())).Err()
			}, want},
			"a write": {secondary, func(ctx context.Context) error { return insertOne(ctx, w.coll) }, ""},
			"a read with the transaction's, not the collection's": {
				options.Transaction().SetReadPreference(readpref.Primary()),
				func(ctx context.Context) error { return operations["a cursor"].do(ctx, w.coll) }, "",
			},
		} {
			w.forget()
			s, ctx := w.transaction(c.options)
			err := c.do(ctx)
			if fmt.Sprint(err) != c.want && (err != nil || c.want != "") {
				t.Errorf("%s: %v", name, err)
			}
			if sent := w.started(""); c.want != "" && (len(sent) != 0 || !s.TransactionRunning()) {
				t.Errorf("%s: %d commands were sent; running: %v", name, len(sent), s.TransactionRunning())
			}
			s.EndSession(w.ctx)
		}
	})
}

// Transactions, "Error Labels". "op" is an insert in the transaction, or the commit.
func TestTheLabelsOfTheErrorsOfATransaction(t *testing.T) {
	const transient, unknown, retryable = "TransientTransactionError", "UnknownTransactionCommitResult", "RetryableWriteError"
	all := []string{"NetworkError", transient, unknown, retryable}
	concern := func(code int, labels ...string) func(w *world, command string) {
		return func(w *world, command string) {
			w.set.Use(command, func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				next(r)
				reply := doc("ok", 1, "writeConcernError", doc("code", code, "errmsg", "scripted"))
				if labels != nil {
					reply = append(reply, e{Key: "errorLabels", Value: labels})
				}
				return mongotest.NewReply(reply)
			})
		}
	}
	always := func(f mongotest.Fault) func(w *world, command string) {
		return func(w *world, command string) { w.set.Use(command, mongotest.Always(f)) }
	}
	for _, c := range []struct {
		name       string
		fault      func(w *world, command string)
		op, commit []string
	}{
		{"a network error", always(loseReply), []string{"NetworkError", transient}, []string{"NetworkError", unknown, retryable}},
		{"an error of the server", always(refuse(2)), nil, nil},
		{"one with a label", always(refuse(251, transient)), []string{transient}, []string{transient}},
		{"a retryable error", always(refuse(91, retryable)), []string{retryable}, []string{unknown, retryable}},
		{"a time limit", always(refuse(50)), nil, []string{unknown}},
		{"no primary", func(w *world, _ string) {
			for i := range w.set.Members() {
				w.set.Kill(i)
			}
			w.pass(30 * time.Second)
		}, []string{transient}, []string{unknown}},
		{"a write concern that failed", concern(64), nil, []string{unknown}},
		{"a write concern's time limit", concern(50), nil, []string{unknown}},
		{"a retryable write concern error", concern(91, retryable), []string{retryable}, []string{unknown, retryable}},
		{"a write concern that cannot be satisfied", concern(100), nil, nil},
		{"an unknown write concern", concern(79), nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for command, want := range map[string][]string{"insert": c.op, "commitTransaction": c.commit} {
				in(t, func(o *options.ClientOptions) { o.SetServerSelectionTimeout(time.Second) }, func(w *world) {
					w.seed()
					s, ctx := w.transaction()
					w.must(insertOne(ctx, w.coll))
					c.fault(w, command)
					var err error
					if command == "insert" {
						err = insertOne(ctx, w.coll)
					} else {
						err = s.CommitTransaction(ctx)
					}
					if got := labels(err, all...); err == nil || fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%s: labels %v, want %v: %v", command, got, want, err)
					}
					var typed mongo.CommandError
					if command == "commitTransaction" && !errors.As(err, &typed) {
						t.Errorf("the commit's error is a %T", err)
					}
					s.EndSession(w.ctx)
				})
			}
		})
	}
}

// Transactions, "ClientSession changes": such an error changes no state, and the transaction can go on.
func TestADocumentThatIsTooLargeDoesNotEndATransaction(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		s, ctx := w.transaction()
		defer s.EndSession(w.ctx)
		_, err := w.coll.InsertOne(ctx, doc("text", strings.Repeat("x", 17<<20)))
		if err == nil || len(labels(err, "TransientTransactionError")) != 0 || len(w.started("")) != 0 {
			t.Errorf("%d commands were sent: %v", len(w.started("")), err)
		}
		w.must(insertOne(ctx, w.coll))
		w.must(s.CommitTransaction(w.ctx))
		if _, err := w.started("insert")[0].Command.LookupErr("startTransaction"); err != nil || w.documents() != 2 {
			t.Errorf("%d documents; the insert is %s", w.documents(), w.started("insert")[0].Command)
		}
	})
}

// Prose test "PoolClearedError".
func TestAClearedPoolInATransactionHasTheTransientLabel(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.SetMaxPoolSize(1).SetMinPoolSize(0) }, func(w *world) {
		w.seed()
		s, ctx := w.transaction()
		defer s.EndSession(w.ctx)
		w.must(insertOne(ctx, w.coll))
		cleared := make(chan error, 1)
		w.set.Use("insert", mongotest.FaultOnce(mongotest.Fault{
			Before: func() { // the only connection is checked out: this insert waits for it
				go func() { cleared <- insertOne(ctx, w.coll) }()
				w.pass(time.Second)
			},
			Error: &mongotest.CommandError{Code: 91, Message: "scripted"},
		}))
		_ = insertOne(w.ctx, w.coll)
		err := <-cleared
		var history *retry.Error
		if !errors.As(err, &history) || history.Last().Reason != mongoreason.PoolCleared || history.StopReason() != retry.StopInTransaction ||
			len(labels(err, "TransientTransactionError")) == 0 {
			t.Errorf("the error is %v", err)
		}
	})
}

// Transactions, "Generic RunCommand helper within a transaction": a command must not have two read concerns.
func TestARunCommandWithItsOwnReadConcern(t *testing.T) {
	find := doc("find", "c", "readConcern", doc("level", "local"))
	for _, c := range []struct {
		name    string
		do      func(w *world) (context.Context, func())
		refused bool
	}{
		{"without a session it is sent", func(w *world) (context.Context, func()) { return w.ctx, func() {} }, false},
		{"it starts a transaction that has none", func(w *world) (context.Context, func()) {
			s, ctx := w.transaction()
			return ctx, func() { s.EndSession(w.ctx) }
		}, false},
		{"it starts a transaction that has one", func(w *world) (context.Context, func()) {
			s, ctx := w.transaction(options.Transaction().SetReadConcern(readconcern.Snapshot()))
			return ctx, func() { s.EndSession(w.ctx) }
		}, true},
		{"a snapshot session", func(w *world) (context.Context, func()) {
			s, ctx := w.session(options.Session().SetSnapshot(true))
			return ctx, func() { s.EndSession(w.ctx) }
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.seed()
				ctx, end := c.do(w)
				defer end()
				w.forget()
				err := w.client.Database("test").RunCommand(ctx, find).Err()
				refused := err != nil && strings.Contains(err.Error(), "Cannot set read concern after starting a transaction")
				if refused != c.refused || !refused && err != nil || refused && len(w.started("find")) != 0 {
					t.Errorf("%d commands were sent: %v", len(w.started("find")), err)
				}
			})
		})
	}
}

// In a transaction every write is acknowledged, so a server can say that it does not know a hint.
func TestTheHintOfAWriteInATransactionIsSentWithAnUnacknowledgedHandle(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		s, ctx := w.transaction()
		defer s.EndSession(w.ctx)
		w.forget()
		coll := w.coll.Clone(options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
		_, _ = coll.DeleteOne(ctx, d{}, options.DeleteOne().SetHint("_id_"))
		if n := len(w.started("delete")); n != 1 {
			t.Errorf("%d commands were sent", n)
		}
		if _, err := coll.DeleteOne(w.ctx, d{}, options.DeleteOne().SetHint("_id_")); err == nil || len(w.started("delete")) != 1 {
			t.Errorf("an unacknowledged write was sent: %v", err)
		}
	}, mongotest.Version("4.2"))
}
