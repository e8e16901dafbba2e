package operation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The tests of this file are for rules that published cases check by operations and options that the public API, which is the
// official driver's, lacks. The cases cannot run on the client; the rules hold for its operations.

// unofferedReads are the commands of count, mapReduce and listDatabaseObjects.
var unofferedReads = map[string]func() *command{
	"count": func() *command { return constant("count", "c", "query", doc("_id", doc("$gt", 1))) },
	"mapReduce": func() *command {
		return constant("mapReduce", "c", "map", bson.JavaScript("function(){}"), "reduce", bson.JavaScript("function(){}"), "out", doc("inline", 1))
	},
	"listDatabases": func() *command { return constant("listDatabases", 1, "filter", doc()) },
}

// Retryable Reads, "Supported Read Operations", and the files count, count-serverErrors, mapReduce, listDatabaseObjects and
// listDatabaseObjects-serverErrors.
func TestReadsThatTheAPILacksAreRetriedOnce(t *testing.T) {
	fault := func(code int32) mongotest.Fault {
		if code == 0 {
			return mongotest.Fault{LoseReply: true}
		}
		return mongotest.Fault{Error: &mongotest.CommandError{Code: code, Message: "scripted"}}
	}
	retried := []int32{0, 11602, 11600, 10107, 13435, 13436, 189, 91, 7, 6, 89, 9001, 134}
	for name, build := range unofferedReads {
		for _, code := range append(retried, 8) {
			t.Run(fmt.Sprint(name, " ", code), func(t *testing.T) {
				in(t, func(w *world) {
					w.set.Use(name, mongotest.FaultOnce(fault(code)))
					o := op(Read, build())
					o.Database = "admin"
					_ = w.runner.Run(w.Context(), o)
					want := 2
					if code == 8 { // UnknownError
						want = 1
					}
					if len(w.sent) != want {
						t.Errorf("%d commands were sent, want %d", len(w.sent), want)
					}
				})
			})
		}
		t.Run(name+" fails after the second network error", func(t *testing.T) {
			in(t, func(w *world) {
				w.set.Use(name, mongotest.Decide(func(*mongotest.Request) mongotest.Fault { return fault(0) }))
				var e official.CommandError
				o := op(Read, build())
				if err := w.runner.Run(w.Context(), o); !errors.As(err, &e) || !e.HasErrorLabel("NetworkError") || len(w.sent) != 2 {
					t.Errorf("%d commands were sent: %v", len(w.sent), err)
				}
			})
		})
		t.Run(name+" is retried until the deadline", func(t *testing.T) {
			in(t, func(w *world) {
				ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
				defer cancel()
				failures := 4
				w.set.Use(name, mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
					if failures--; failures >= 0 {
						return fault(7)
					}
					return mongotest.Fault{}
				}))
				_ = w.runner.Run(ctx, op(Read, build()))
				if len(w.sent) != 5 || w.last("maxTimeMS").IsZero() {
					t.Errorf("%d commands were sent; the last has the maxTimeMS %v", len(w.sent), w.last("maxTimeMS"))
				}
			})
		})
		t.Run(name+" has no write concern", func(t *testing.T) { // default-write-concern-3.4, "MapReduce omits default write concern"
			in(t, func(w *world) {
				_ = w.runner.Run(w.Context(), op(Read, build()))
				if v := w.last("writeConcern"); !v.IsZero() {
					t.Errorf("the write concern is %v", v)
				}
			})
		})
	}
}

// Transactions, the file count: a server refuses count in a transaction, and this is no transient error.
func TestTheServersRefusalOfACountInATransactionHasNoLabel(t *testing.T) {
	in(t, func(w *world) {
		w.insert(1, nil)
		s := w.runner.StartSession(SessionOptions{})
		defer s.End()
		w.must(s.StartTransaction(TransactionOptions{}))
		o := op(Read, unofferedReads["count"]())
		o.Session = s
		var e official.CommandError
		if err := w.runner.Run(w.Context(), o); !errors.As(err, &e) || e.Code != 263 || e.HasErrorLabel(LabelTransientTransaction) {
			t.Errorf("error: %v", err)
		}
		if w.last("autocommit").IsZero() || !w.last("startTransaction").Boolean() {
			t.Errorf("the command is %v", w.sent[len(w.sent)-1])
		}
		_, err := s.Abort()
		w.must(err)
	})
}

// Transactions, the files retryable-commit, transaction-options and error-labels, and Client-Side Operations Timeout, the files
// legacy-timeouts, deprecated-options and sessions-override-timeoutMS: the time limits of the end of a transaction. maxCommitTimeMS
// and timeoutMS are the context's deadline, wtimeoutMS is the Timeout of the write concern.
func TestTheTimeLimitsOfTheEndOfATransaction(t *testing.T) {
	journal := true
	given := WriteConcern{WriteConcern: &writeconcern.WriteConcern{W: 1, Journal: &journal}, Timeout: 500 * time.Millisecond}
	const own = `{"w": {"$numberInt":"1"},"j": true,"wtimeout": {"$numberLong":"500"}}`
	for _, c := range []struct {
		name   string
		wc     WriteConcern
		limit  time.Duration // until the deadline
		fault  *mongotest.Fault
		aborts bool
		want   []string // the write concern and maxTimeMS of each attempt
	}{
		{"a commit has the options of the transaction", given, 0, nil, false, []string{own + " "}},
		{"an abort has the options of the transaction", given, 0, nil, true, []string{own + " "}},
		{
			"a retry of a commit only overwrites w", given, 0, &mongotest.Fault{LoseReply: true}, false,
			[]string{own + " ", `{"w": "majority","j": true,"wtimeout": {"$numberLong":"500"}} `},
		},
		{
			"a retry of a commit adds a wtimeout",
			WriteConcern{},
			0,
			&mongotest.Fault{LoseReply: true},
			false,
			[]string{" ", `{"w": "majority","wtimeout": {"$numberLong":"10000"}} `},
		},
		{"a retry of an abort overwrites nothing", given, 0, &mongotest.Fault{LoseRequest: true}, true, []string{own + " ", own + " "}},
		{"the time limit of a commit is its maxTimeMS", WriteConcern{}, time.Second, nil, false, []string{" 1000"}},
		{"the time limit of an abort is its maxTimeMS", WriteConcern{}, time.Second, nil, true, []string{" 1000"}},
		{
			"a time limit replaces wtimeout", given, time.Second, nil, false,
			[]string{`{"w": {"$numberInt":"1"},"j": true} 1000`},
		},
		{"a time limit replaces a wtimeout that is alone", WriteConcern{Timeout: time.Second}, time.Second, nil, false, []string{" 1000"}},
		{"a time limit of years is no maxTimeMS", WriteConcern{}, 10 * 365 * 24 * time.Hour, nil, false, []string{" "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(w *world) {
				s := w.runner.StartSession(SessionOptions{})
				defer s.End()
				w.must(s.StartTransaction(TransactionOptions{WriteConcern: c.wc}))
				w.insert(1, s)
				end := s.Commit
				if c.aborts {
					end = s.Abort
				}
				o, err := end()
				w.must(err)
				o.Selection = op(Write, constant("ping", 1)).Selection
				if c.fault != nil {
					w.set.Use(o.Name, mongotest.FaultOnce(*c.fault))
				}
				ctx := w.Context()
				if c.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.limit)
					defer cancel()
				}
				w.sent = nil
				w.must(w.runner.Run(ctx, o))
				var got []string
				for _, sent := range w.sent {
					ms := ""
					if n, ok := sent.Lookup("maxTimeMS").AsInt64OK(); ok {
						ms = fmt.Sprint(n)
					}
					wc := ""
					if v := sent.Lookup("writeConcern"); !v.IsZero() {
						wc = v.String()
					}
					got = append(got, wc+" "+ms)
				}
				if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
					t.Errorf("sent %q, want %q", got, c.want)
				}
			})
		})
	}
}

// Transactions, the file error-labels: MaxTimeMSExpired leaves the result of a commit unknown, and no other operation's.
func TestTheLabelOfATimeLimitInATransaction(t *testing.T) {
	expired := &mongotest.CommandError{Code: 50, Message: "scripted"}
	for _, c := range []struct {
		name, command string
		want          bool
	}{{"a commit", "commitTransaction", true}, {"an operation", "find", false}} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(w *world) {
				s := w.runner.StartSession(SessionOptions{})
				defer s.End()
				w.must(s.StartTransaction(TransactionOptions{}))
				w.insert(1, s)
				w.set.Use(c.command, mongotest.FaultOnce(mongotest.Fault{Error: expired}))
				o := op(Read, constant("find", "c"))
				o.Session = s
				if c.want {
					var err error
					o, err = s.Commit()
					w.must(err)
					o.Selection = op(Write, constant("ping", 1)).Selection
				}
				n := len(w.sent)
				err := w.runner.Run(w.Context(), o)
				if Labelled(err, LabelUnknownCommit) != c.want || Labelled(err, LabelTransientTransaction) || len(w.sent) != n+1 {
					t.Errorf("%d commands were sent: %v", len(w.sent)-n, err)
				}
			})
		})
	}
}

// Client-Side Operations Timeout, "Command Execution" (deprecated-options and legacy-timeouts): a command has its own maxTimeMS, or the
// rest of the deadline, never both.
func TestACommandHasOneTimeLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		own   bool
		limit time.Duration
		want  string // the values of maxTimeMS
	}{
		{"its own", true, 0, "5000"},
		{"its own, with a deadline", true, time.Minute, "5000"},
		{"that of the deadline", false, time.Minute, "60000"},
		{"none", false, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(w *world) {
				cmd := constant("find", "c")
				if c.own {
					cmd = constant("find", "c", "maxTimeMS", 5000)
				}
				o := op(Read, cmd)
				o.OwnTimeLimit = c.own
				ctx := w.Context()
				if c.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.limit)
					defer cancel()
				}
				w.must(w.runner.Run(ctx, o))
				var values []string
				elements, err := w.sent[len(w.sent)-1].Elements()
				w.must(err)
				for _, e := range elements {
					if e.Key() == "maxTimeMS" {
						values = append(values, fmt.Sprint(e.Value().AsInt64()))
					}
				}
				if got := strings.Join(values, " "); got != c.want {
					t.Errorf("maxTimeMS is %q, want %q", got, c.want)
				}
			})
		})
	}
}
