package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/telemetry"
)

// traced writes down what a tracer is told, a line for each call. What is below something else is indented.
type traced struct {
	mu    sync.Mutex
	lines []string
}

type depthKey struct{}

func depth(ctx context.Context) int {
	n, _ := ctx.Value(depthKey{}).(int)
	return n
}

func (l *traced) say(ctx context.Context, format string, values ...any) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := depth(ctx)
	l.lines = append(l.lines, strings.Repeat("  ", n)+fmt.Sprintf(format, values...))
	return context.WithValue(ctx, depthKey{}, n+1)
}

// take returns the lines since the last call.
func (l *traced) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

func (l *traced) tracer() *telemetry.Tracer {
	ended := func(err error) string {
		if err == nil {
			return "ended"
		}
		return fmt.Sprintf("failed with %T", err)
	}
	return &telemetry.Tracer{
		OperationBegan: func(ctx context.Context, o *telemetry.Operation) context.Context {
			if o.System != telemetry.MongoDB || o.Began.IsZero() {
				l.say(ctx, "wrong: %+v", o)
			}
			if o.Transaction != nil {
				ctx = context.WithValue(ctx, depthKey{}, depth(o.Transaction))
			}
			return l.say(ctx, "%s %s.%s", o.Name, o.Namespace, o.Collection)
		},
		OperationEnded: func(ctx context.Context, _ *telemetry.Operation, err error) {
			l.say(ctx, "%s", ended(err))
		},
		AttemptBegan: func(ctx context.Context, a *telemetry.Attempt) context.Context {
			text := fmt.Sprintf("%d: %s %s.%s", a.Number, a.Name, a.Namespace, a.Collection)
			if a.Cursor != 0 {
				text += ", a cursor"
			}
			if a.TransactionNumber != 0 {
				text += ", numbered"
			}
			if a.Sensitive {
				text += ", sensitive"
			}
			if len(a.Session) != 16 || a.Connection.Address == "" || a.Operation == nil || bson.Raw(a.Command()).Validate() != nil {
				text += fmt.Sprintf(", wrong: %+v", a)
			}
			return l.say(ctx, "%s", text)
		},
		AttemptEnded: func(ctx context.Context, _ *telemetry.Attempt, r *telemetry.Result) {
			text := ended(r.Err)
			if r.Code != 0 {
				text += fmt.Sprintf(", code %d", r.Code)
			}
			if r.Cursor != 0 {
				text += ", a cursor"
			}
			l.say(ctx, "%s", text)
		},
		TransactionBegan: func(ctx context.Context, _ time.Time) context.Context { return l.say(ctx, "transaction") },
		TransactionEnded: func(ctx context.Context, commit bool, err error) {
			what := "abort"
			if commit {
				what = "commit"
			}
			l.say(ctx, "%s, %s", ended(err), what)
		},
	}
}

func inTransaction(w *world, f func(ctx context.Context, s *mongo.Session)) {
	s, err := w.client.StartSession()
	w.must(err)
	defer s.EndSession(w.ctx)
	w.must(s.StartTransaction())
	f(mongo.NewSessionContext(w.ctx, s), s)
}

// Each row is what a tracer is told of what is done, in its order.
func TestWhatATracerIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(w *world, l *traced)
		want string
	}{
		"a find that is retried": {func(w *world, _ *traced) {
			w.set.Use("find", mongotest.FaultOnce(refuse(91)))
			w.must(w.coll.FindOne(w.ctx, d{}).Err())
		}, `find test.c
		|  0: find test.c
		|    failed with mongo.CommandError, code 91
		|  1: find test.c
		|    ended
		|  ended`},
		"a write whose reply is lost": {func(w *world, _ *traced) {
			w.script("insert", mongotest.Fault{LoseReply: true})
			_, err := w.coll.InsertOne(w.ctx, d{})
			w.must(err)
		}, `insert test.c
		|  0: insert test.c, numbered
		|    failed with mongo.CommandError
		|  1: insert test.c, numbered
		|    ended
		|  ended`},
		"a cursor": {func(w *world, l *traced) {
			_, err := w.coll.InsertMany(w.ctx, []d{{}, {}})
			w.must(err)
			l.take()
			c, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(1))
			w.must(err)
			c.Next(w.ctx)
			c.Next(w.ctx)
			w.must(c.Close(w.ctx))
		}, `find test.c
		|  0: find test.c
		|    ended, a cursor
		|  ended
		|getMore test.c
		|  0: getMore test.c, a cursor
		|    ended, a cursor
		|  ended
		|killCursors test.c
		|  0: killCursors test.c, a cursor
		|    ended
		|  ended`},
		"a bulk write of two commands": {func(w *world, _ *traced) {
			_, err := w.coll.BulkWrite(w.ctx, []mongo.WriteModel{
				mongo.NewInsertOneModel().SetDocument(d{}), mongo.NewDeleteManyModel().SetFilter(d{}),
			})
			w.must(err)
		}, `bulkWrite test.c
		|  0: insert test.c, numbered
		|    ended
		|  0: delete test.c
		|    ended
		|  ended`},
		"a bulk write of the client": {func(w *world, _ *traced) {
			_, err := w.client.BulkWrite(w.ctx, []mongo.ClientBulkWrite{
				{Database: "test", Collection: "c", Model: mongo.NewClientInsertOneModel().SetDocument(d{})},
			})
			w.must(err)
		}, `bulkWrite admin.
		|  0: bulkWrite admin., numbered
		|    ended
		|  ended`},
		"a transaction": {func(w *world, _ *traced) {
			inTransaction(w, func(ctx context.Context, s *mongo.Session) {
				_, err := w.coll.InsertOne(ctx, d{})
				w.must(err)
				_, err = w.coll.InsertMany(ctx, []d{{}})
				w.must(err)
				w.must(s.CommitTransaction(ctx))
				w.must(s.CommitTransaction(ctx))
				w.must(w.coll.FindOne(ctx, d{}).Err())
			})
		}, `transaction
		|  insert test.c
		|    0: insert test.c, numbered
		|      ended
		|    ended
		|  insert test.c
		|    0: insert test.c, numbered
		|      ended
		|    ended
		|  commitTransaction admin.
		|    0: commitTransaction admin., numbered
		|      ended
		|    ended
		|  ended, commit
		|  commitTransaction admin.
		|    0: commitTransaction admin., numbered
		|      ended
		|    ended
		|find test.c
		|  0: find test.c
		|    ended
		|  ended`},
		"a transaction that the end of its session aborts": {func(w *world, _ *traced) {
			inTransaction(w, func(ctx context.Context, _ *mongo.Session) {
				_, err := w.coll.InsertOne(ctx, d{})
				w.must(err)
			})
		}, `transaction
		|  insert test.c
		|    0: insert test.c, numbered
		|      ended
		|    ended
		|  abortTransaction admin.
		|    0: abortTransaction admin., numbered
		|      ended
		|    ended
		|  ended, abort`},
		"a transaction without an operation": {func(w *world, _ *traced) {
			inTransaction(w, func(ctx context.Context, s *mongo.Session) { w.must(s.CommitTransaction(ctx)) })
		}, ``},
		"WithTransaction, whose first commit fails": {func(w *world, _ *traced) {
			s, err := w.client.StartSession()
			w.must(err)
			defer s.EndSession(w.ctx)
			w.set.Use("commitTransaction", mongotest.FaultOnce(mongotest.Fault{
				Error: &mongotest.CommandError{Code: 251, Labels: []string{"TransientTransactionError"}},
			}))
			_, err = s.WithTransaction(w.ctx, func(ctx context.Context) (any, error) { return w.coll.InsertOne(ctx, d{}) })
			w.must(err)
		}, `transaction
		|  insert test.c
		|    0: insert test.c, numbered
		|      ended
		|    ended
		|  commitTransaction admin.
		|    0: commitTransaction admin., numbered
		|      failed with mongo.CommandError, code 251
		|    failed with mongo.CommandError
		|  failed with mongo.CommandError, commit
		|transaction
		|  insert test.c
		|    0: insert test.c, numbered
		|      ended
		|    ended
		|  commitTransaction admin.
		|    0: commitTransaction admin., numbered
		|      ended
		|    ended
		|  ended, commit`},
		"WithTransaction without an operation": {func(w *world, _ *traced) {
			s, err := w.client.StartSession()
			w.must(err)
			defer s.EndSession(w.ctx)
			_, err = s.WithTransaction(w.ctx, func(context.Context) (any, error) { return 1, nil })
			w.must(err)
		}, `transaction
		|  ended, commit`},
		"names that are not those of the commands": {func(w *world, _ *traced) {
			db := w.client.Database("test")
			w.must(db.CreateCollection(w.ctx, "d"))
			w.must(db.Collection("d").Drop(w.ctx))
			w.must(db.RunCommand(w.ctx, d{{Key: "count", Value: "c"}}).Err())
			w.must(w.client.Ping(w.ctx, nil))
		}, `createCollection test.d
		|  0: create test.d
		|    ended
		|  ended
		|dropCollection test.d
		|  0: drop test.d
		|    ended
		|  ended
		|runCommand test.
		|  0: count test.c
		|    ended
		|  ended
		|runCommand admin.
		|  0: ping admin.
		|    ended
		|  ended`},
		"what is about no collection": {func(w *world, _ *traced) {
			_, err := w.client.ListDatabaseNames(w.ctx, d{})
			w.must(err)
			_, err = w.client.Database("test").ListCollectionNames(w.ctx, d{})
			w.must(err)
			c, err := w.client.Database("test").Aggregate(w.ctx, []d{{{Key: "$documents", Value: bson.A{}}}})
			w.must(err)
			w.must(c.Close(w.ctx))
		}, `listDatabases admin.
		|  0: listDatabases admin.
		|    ended
		|  ended
		|listCollections test.
		|  0: listCollections test.
		|    ended
		|  ended
		|aggregate test.
		|  0: aggregate test.
		|    ended
		|  ended`},
		"a command with a password": {func(w *world, _ *traced) {
			_ = w.client.Database("test").RunCommand(w.ctx, d{{Key: "createUser", Value: "u"}, {Key: "pwd", Value: hiddenPlain}, {Key: "roles", Value: bson.A{}}})
		}, `runCommand test.
		|  0: createUser test.u, sensitive
		|    ended
		|  ended`},
		"no server": {func(w *world, _ *traced) {
			for i := range 3 {
				w.set.Kill(i)
			}
			w.pass(time.Minute)
			ctx, cancel := context.WithTimeout(w.ctx, time.Second)
			defer cancel()
			if w.coll.FindOne(ctx, d{}).Err() == nil {
				w.Error("no error")
			}
		}, `find test.c
		|  failed with operation.NoServer`},
		"a wrong argument": {func(w *world, _ *traced) {
			if w.coll.FindOne(w.ctx, 1).Err() == nil {
				w.Error("no error")
			}
		}, ``},
	} {
		t.Run(name, func(t *testing.T) {
			l := &traced{}
			opened(t, mongo.Config{Tracer: l.tracer()}, nil, func(w *world) {
				w.seed()
				l.take()
				test.do(w, l)
				want := strings.Split(strings.NewReplacer("\t", "", "|", "").Replace(test.want), "\n")
				if got := l.take(); !slices.Equal(got, want) && len(got)+len(test.want) > 0 {
					t.Errorf("the tracer was told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}, mongotest.Version("8.0"))
		})
	}
}

// A tracer is told of the end also if the application's code panics.
func TestATracerIsToldOfAnOperationThatPanics(t *testing.T) {
	l := &traced{}
	panics := func(o *options.ClientOptions) {
		o.SetMonitor(&event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
			if e.CommandName == "find" {
				panic("a listener")
			}
		}})
	}
	opened(t, mongo.Config{Tracer: l.tracer()}, panics, func(w *world) {
		l.take()
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_ = w.coll.FindOne(w.ctx, d{})
		}()
		got := l.take()
		if len(got) == 0 || got[len(got)-1] != "  failed with *errors.errorString" {
			t.Errorf("the tracer was told %q", got)
		}
	})
}

// The functions of a tracer may be nil, and a nil context changes nothing.
func TestATracerNeedNotHaveAllFunctions(t *testing.T) {
	empty := func(context.Context, *telemetry.Operation) context.Context { return nil }
	for _, tracer := range []*telemetry.Tracer{{}, {OperationBegan: empty}} {
		opened(t, mongo.Config{Tracer: tracer}, nil, func(w *world) {
			w.seed()
			inTransaction(w, func(ctx context.Context, s *mongo.Session) {
				_, err := w.coll.InsertMany(ctx, []d{{}, {}})
				w.must(err)
				w.must(s.CommitTransaction(ctx))
			})
			if err := w.coll.FindOne(w.ctx, d{{Key: "none", Value: 1}}).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
				t.Error(err)
			}
		})
	}
}
