package mongo_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

func updateOne(w *world) error { return writes[2].do(w.ctx, w.coll) }

// runUpdate is a write as runCommand sends it, which no rule but overload's retries.
func runUpdate(w *world) error {
	return w.client.Database("test").RunCommand(w.ctx, doc("update", "c", "updates", bson.A{
		doc("q", doc("_id", 1), "u", doc("$inc", doc("n", 1))),
	})).Err()
}

// historyOf returns the attempts of an error.
func (w *world) historyOf(err error) *retry.Error {
	w.Helper()
	var history *retry.Error
	if !errors.As(err, &history) {
		w.Fatalf("no history: %v", err)
	}
	return history
}

// poolEvents counts the pool events of a type.
func (w *world) poolEvents(kind string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, ev := range w.pool {
		if ev.Type == kind {
			n++
		}
	}
	return n
}

func labels(err error, of ...string) []string {
	var labelled mongo.LabeledError
	return slices.DeleteFunc(slices.Clone(of), func(l string) bool {
		return !errors.As(err, &labelled) || !labelled.HasErrorLabel(l)
	})
}

// greet does a fault to the first hello of each connection to a mongos, a standalone or the member that is the first primary.
func (w *world) greet(f func(n int) mongotest.Fault) {
	n := 0
	w.heal = w.set.Use("hello", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
		if _, err := r.Body.LookupErr("backpressure"); err != nil || r.Member > 0 {
			return mongotest.Fault{}
		}
		n++
		return f(n)
	}))
}

// disconnected breaks the only connection of the client's pool and lets the monitors find the server again, so that the
// next operation makes a new connection.
func (w *world) disconnected() {
	w.script("ping", loseReply)
	_ = w.client.Ping(w.ctx, nil)
	w.heal()
	w.pass(11 * time.Second)
	w.forget()
}

// SDAM, "Application errors": an operation that its own context ended says nothing about the server.
func TestWhichBrokenConnectionsClearThePool(t *testing.T) {
	silent := mongotest.Fault{LoseReply: true, Silent: true}
	for _, c := range []struct {
		name  string
		fault mongotest.Fault
		ctx   func(context.Context) (context.Context, context.CancelFunc)
		clear int
	}{
		{"the server closes it", loseReply, nil, 1},
		{"the caller cancels", silent, func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, 0},
		{"the caller's deadline passes", silent, func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.seed()
				w.script("find", c.fault)
				ctx := w.ctx
				if c.ctx != nil {
					var cancel context.CancelFunc
					ctx, cancel = c.ctx(ctx)
					defer cancel()
				}
				_ = w.coll.FindOne(ctx, doc("_id", 1)).Err()
				if n := w.poolEvents(event.ConnectionPoolCleared); n != c.clear {
					t.Errorf("the pool was cleared %d times, want %d", n, c.clear)
				}
				w.heal()
				start := time.Now()
				w.must(findOne(w))
				if took := time.Since(start); took != 0 {
					t.Errorf("the next operation waited %v", took)
				}
			})
		})
	}
}

// Sessions, "Server Session Pool": a session that met a network error is not used by another operation, and its end is
// not told to the servers.
func TestWhichFailuresMakeASessionDirty(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []mongotest.Fault
		dirty  bool
	}{
		{"none", nil, false},
		{"a refusal", []mongotest.Fault{refuse(1)}, false},
		{"a refusal that is retried", []mongotest.Fault{refuse(91, "RetryableWriteError")}, false},
		{"a lost reply, although the retry succeeds", []mongotest.Fault{loseReply}, true},
		{"a lost request", []mongotest.Fault{loseRequest, loseRequest}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.seed()
				w.script("update", c.faults...)
				_ = updateOne(w)
				w.heal()
				w.must(updateOne(w))
				s := w.started("update")
				lsid := func(ev *event.CommandStartedEvent) string { return ev.Command.Lookup("lsid").String() }
				for _, ev := range s[:len(s)-1] {
					if lsid(ev) != lsid(s[0]) {
						t.Error("an attempt has another session")
					}
				}
				if again := lsid(s[len(s)-1]) == lsid(s[0]); again == c.dirty {
					t.Errorf("the session is used again: %v", again)
				}
				var ended []string
				w.set.Use("endSessions", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
					values, err := r.Body.Lookup("endSessions").Array().Values()
					w.must(err)
					for _, v := range values {
						ended = append(ended, v.String())
					}
					return mongotest.Fault{}
				}))
				w.reconnect()
				if slices.Contains(ended, lsid(s[0])) == c.dirty || !slices.Contains(ended, lsid(s[len(s)-1])) {
					t.Errorf("the sessions that ended are %v", ended)
				}
			})
		})
	}
}

// A write concern error leaves open whether the write stays; a refusal does not.
func TestWhetherTheOutcomeIsKnown(t *testing.T) {
	concern := func(labels ...string) *mongotest.Reply {
		return mongotest.NewReply(doc(
			"ok", 1, "n", 1, "nModified", 1, "writeConcernError", doc("code", 91, "errmsg", "shutting down"), "errorLabels", labels,
		))
	}
	for _, c := range []struct {
		name  string
		first func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply
		known bool
	}{
		{"a write concern error", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
			return concern("RetryableWriteError")
		}, false},
		{"a refusal", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
			return &mongotest.Reply{Error: &mongotest.CommandError{Code: 91, Labels: []string{"RetryableWriteError"}}}
		}, true},
		{"a lost reply", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			reply := next(r)
			reply.Lost = true
			return reply
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.seed()
				var seen atomic.Int64
				w.heal = w.set.Use("update", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
					if seen.Add(1) == 1 {
						return c.first(r, next)
					}
					return &mongotest.Reply{Error: &mongotest.CommandError{Code: 10107, Labels: []string{"NoWritesPerformed"}}}
				})
				err := updateOne(w)
				history := w.historyOf(err)
				if len(history.Attempts) != 2 || history.OutcomeKnown() != c.known {
					t.Errorf("known: %v, want %v: %v", history.OutcomeKnown(), c.known, err)
				}
			})
		})
	}
}

// Retryable Writes, "RetryableWriteError Labels", for write concern errors: servers from 4.4 on label them themselves.
func TestWhichWriteConcernErrorsAreRetried(t *testing.T) {
	off := func(o *options.ClientOptions) { o.SetRetryWrites(false) }
	const label = "RetryableWriteError"
	for _, c := range []struct {
		name      string
		configure func(*options.ClientOptions)
		version   string
		code      int
		labels    bson.A
		attempts  int
		reason    retry.Reason
		labelled  bool
	}{
		{"with the server's label", nil, "7.0", 64, bson.A{label}, 2, mongoreason.RetryableWriteLabel, true},
		{"without it", nil, "7.0", 91, bson.A{}, 1, retry.ReasonUnknown, false},
		{"of an older server, with a code on the list", nil, "4.2", 262, bson.A{}, 2, mongoreason.RetryableWriteLabel, true},
		{"of an older server, when it shuts down", nil, "4.2", 91, bson.A{}, 2, mongoreason.NodeRecovering, true},
		{"of an older server that is no primary", nil, "4.2", 10107, bson.A{}, 2, mongoreason.NotWritablePrimary, true},
		{"of an older server, with another code", nil, "4.2", 64, bson.A{}, 1, retry.ReasonUnknown, false},
		{"of an older server, retryWrites=false", off, "4.2", 91, bson.A{}, 1, retry.ReasonUnknown, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, c.configure, func(w *world) {
				w.seed()
				w.heal = w.set.Use("update", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
					return mongotest.NewReply(doc(
						"ok", 1, "n", 1, "nModified", 1, "writeConcernError", doc("code", c.code, "errmsg", "e"), "errorLabels", c.labels,
					))
				})
				err := updateOne(w)
				if n := len(w.started("update")); n != c.attempts {
					t.Errorf("%d attempts, want %d", n, c.attempts)
				}
				checkCode(t, err, c.code)
				if (len(labels(err, label)) > 0) != c.labelled {
					t.Errorf("labels of %v", err)
				}
				if c.attempts == 2 && w.historyOf(err).Attempts[0].Reason != c.reason {
					t.Errorf("the reason is %v, want %v", w.historyOf(err).Attempts[0].Reason, c.reason)
				}
			}, mongotest.Version(c.version))
		})
	}
}

// The same for refusals: the client labels those of servers before 4.4.
func TestWhichRefusalsOfAnOlderServerAreRetried(t *testing.T) {
	const label = "RetryableWriteError"
	for _, c := range []struct {
		name     string
		on       bool
		code     int32
		do       func(w *world) error
		command  string
		attempts int
		labelled bool
	}{
		{"a write, a code on the list", true, 91, updateOne, "update", 2, true},
		{"a write, another code", true, 1, updateOne, "update", 1, false},
		{"a write with retryWrites=false", false, 91, updateOne, "update", 1, false},
		{"a read", true, 91, findOne, "find", 2, false},
		{"runCommand", true, 91, runUpdate, "update", 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(o *options.ClientOptions) { o.SetRetryWrites(c.on) }, func(w *world) {
				w.seed()
				w.script(c.command, refuse(c.code), refuse(c.code))
				err := c.do(w)
				if n := len(w.started(c.command)); n != c.attempts {
					t.Errorf("%d attempts, want %d", n, c.attempts)
				}
				checkCode(t, err, int(c.code))
				if (len(labels(err, label)) > 0) != c.labelled {
					t.Errorf("labels of %v", err)
				}
			}, mongotest.Version("4.2"))
		})
	}
}

// A pool that was cleared since its server was selected: nothing was sent.
func TestAClearedPoolIsAnAttempt(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		w.onPool = w.clearAtNextCheckOut()
		w.set.Use("update", mongotest.Always(refuse(1)))
		first := w.historyOf(updateOne(w)).Attempts[0]
		if first.Reason != mongoreason.PoolCleared || first.Stage != retry.StageDispatch || first.Why != retry.WhyRetried ||
			len(labels(first.Err, "NetworkError", "RetryableWriteError")) != 2 {
			t.Errorf("%+v", first)
		}
	})
}

// Client Backpressure, "Connection pool": the pool labels what fails while connecting, and is not cleared.
func TestWhichFailuresOfAConnectionAreOverload(t *testing.T) {
	all := []string{"NetworkError", "SystemOverloadedError", "RetryableError", "RetryableWriteError"}
	for _, c := range []struct {
		name     string
		do       func(w *world) error
		fault    mongotest.Fault
		attempts int
		labels   []string
		reason   retry.Reason
		cleared  bool
	}{
		{"the hello of a write is not answered", updateOne, mongotest.Fault{LoseRequest: true, Silent: true}, 3, all, retry.ReasonOverloaded, false},
		{"the hello of a write breaks", updateOne, loseRequest, 3, all, retry.ReasonOverloaded, false},
		{"the hello of a read breaks", findOne, loseRequest, 3, all[:3], retry.ReasonOverloaded, false},
		{"the hello of runCommand breaks", runUpdate, loseRequest, 3, all[:3], retry.ReasonOverloaded, false},
		{"the hello of a write is refused, retryably", updateOne, refuse(91), 2, all[3:], retry.ReasonConnectionFailed, true},
		{"the hello of a read is refused, retryably", findOne, refuse(91), 2, nil, retry.ReasonConnectionFailed, true},
		{"the hello of a write is refused", updateOne, refuse(18), 1, nil, retry.ReasonUnknown, true},
		{"the hello of a read is refused", findOne, refuse(18), 1, nil, retry.ReasonUnknown, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(o *options.ClientOptions) {
				poll(o)
				o.SetConnectTimeout(2 * time.Second).SetServerSelectionTimeout(time.Minute)
			}, func(w *world) {
				w.seed()
				w.disconnected()
				greeted := 0
				w.greet(func(n int) mongotest.Fault {
					greeted = n
					return c.fault
				})
				err := c.do(w)
				if err == nil || greeted != c.attempts {
					t.Errorf("%d handshakes, want %d: %v", greeted, c.attempts, err)
				}
				if got := labels(err, all...); !slices.Equal(got, c.labels) {
					t.Errorf("labels %v, want %v: %v", got, c.labels, err)
				}
				if (w.poolEvents(event.ConnectionPoolCleared) > 0) != c.cleared {
					t.Errorf("the pool was cleared: %v", !c.cleared)
				}
				if n := len(w.started("")); n != 0 {
					t.Errorf("%d commands were sent", n)
				}
				if c.attempts == 1 {
					return
				}
				for _, a := range w.historyOf(err).Attempts {
					if a.Stage != retry.StageDispatch || a.Reason != c.reason || a.Endpoint == "" {
						t.Errorf("the attempt is %+v", a)
					}
				}
			})
		})
	}
}

// brokenWrites is a connection whose writes fail, after some bytes, once it is told to.
type brokenWrites struct {
	net.Conn
	after *atomic.Int64 // -1: they succeed
}

func (c brokenWrites) Write(b []byte) (int, error) {
	n := int(c.after.Load())
	if n < 0 {
		return c.Conn.Write(b)
	}
	written, err := c.Conn.Write(b[:n])
	if err == nil {
		err = syscall.EPIPE
	}
	return written, err
}

type dialerFunc func(ctx context.Context, network, address string) (net.Conn, error)

func (f dialerFunc) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return f(ctx, network, address)
}

// Whether any byte was written decides whether the server may have applied the operation.
func TestTheStageOfABrokenWrite(t *testing.T) {
	for _, c := range []struct {
		name  string
		after int64
		want  retry.Stage
	}{
		{"nothing was written", 0, retry.StageDispatch},
		{"a byte was written", 1, retry.StageInFlight},
	} {
		t.Run(c.name, func(t *testing.T) {
			var after atomic.Int64
			after.Store(-1)
			var inner *options.ClientOptions
			in(t, func(o *options.ClientOptions) {
				inner = options.Client().SetDialer(o.Dialer)
				o.SetDialer(dialerFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
					nc, err := inner.Dialer.DialContext(ctx, network, address)
					if err != nil {
						return nil, err
					}
					return brokenWrites{nc, &after}, nil
				})).SetServerSelectionTimeout(time.Second)
			}, func(w *world) {
				w.seed()
				after.Store(c.after)
				history := w.historyOf(updateOne(w))
				first := history.Attempts[0]
				if first.Stage != c.want || first.Reason != retry.ReasonNetworkError || history.OutcomeKnown() != (c.want == retry.StageDispatch) {
					t.Errorf("%v", history)
				}
				after.Store(-1)
			})
		})
	}
}

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
					if r.Mongos == int(old.Load()) {
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
				if !mongo.IsNetworkError(err) || history.Why() != retry.WhyUnsupportedServer || last.Stage != retry.StageDispatch ||
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
				if last := history.Last(); asked != 1 || !errors.As(last.Err, &cleared) || history.Why() != retry.WhyAttemptsUsed {
					t.Errorf("%d attempts, why %v: %v", asked, history.Why(), err)
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
			if r.Mongos == int(small.Load()) {
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
		if !mongo.IsNetworkError(err) || len(history.Attempts) != 2 || history.Why() != retry.WhyNotBuilt ||
			last.Stage != retry.StageDispatch || last.Endpoint != w.set.MongosAddr(int(small.Load())) || len(w.started("update")) != 1 {
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

// SDAM, "not writable primary" and "node is recovering": by the code, and without one by the message.
func TestWhichRefusalsTheTopologyIsTold(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply d
		told  bool
	}{
		{"a code and a message", doc("ok", 0, "code", 10107, "errmsg", "not primary"), true},
		{"a code alone", doc("ok", 0, "code", 10107), true},
		{"a message alone", doc("ok", 0, "errmsg", "not master"), true},
		{"another code", doc("ok", 0, "code", 1, "errmsg", "not master"), false},
		{"neither", doc("ok", 0), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(o *options.ClientOptions) { o.SetRetryReads(false) }, func(w *world) {
				w.seed()
				w.pass(time.Second)
				w.heal = w.set.Use("find", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
					return mongotest.NewReply(c.reply)
				})
				w.set.Use("hello", mongotest.Always(mongotest.Fault{Delay: time.Millisecond}))
				if err := findOne(w); err == nil {
					t.Error("it succeeded")
				}
				start := time.Now()
				w.must(updateOne(w)) // waits for a check if the primary is not known any more
				if told := time.Since(start) > 0; told != c.told {
					t.Errorf("the topology was told: %v", told)
				}
			})
		})
	}
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
		if why := w.historyOf(err).Why(); why != retry.WhyUnsupportedServer {
			t.Errorf("why: %v", why)
		}
	})
}

// Server Selection, "Deprioritized servers": every mongos that failed in an operation is avoided while there are others.
func TestEveryMongosThatFailedIsAvoided(t *testing.T) {
	for range 5 {
		inside(t, sharded(4), nil, func(w *world) {
			w.seed()
			w.pass(time.Second) // every mongos is discovered
			var asked []int
			w.heal = w.set.Use("update", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
				asked = append(asked, r.Mongos)
				if len(asked) < 6 {
					return refuse(1, "RetryableWriteError")
				}
				return mongotest.Fault{}
			}))
			ctx, cancel := context.WithTimeout(w.ctx, time.Minute)
			defer cancel()
			w.must(writes[2].do(ctx, w.coll))
			if len(asked) != 6 {
				t.Fatalf("asked were %v", asked)
			}
			first := slices.Sorted(slices.Values(asked[:4]))
			if !slices.Equal(first, []int{0, 1, 2, 3}) {
				t.Errorf("asked were %v: each mongos once before any twice", asked)
			}
		})
	}
}

// On a replica set a server that failed is not avoided, unless it was overloaded and enableOverloadRetargeting is set.
func TestOnAReplicaSetOnlyOverloadIsRetargeted(t *testing.T) {
	overload := refuse(462, "SystemOverloadedError", "RetryableError")
	for _, c := range []struct {
		name     string
		retarget bool
		fault    mongotest.Fault
		always   bool // the second attempt goes to another member in every run
	}{
		{"overload with the option", true, overload, true},
		{"overload without it", false, overload, false},
		{"another failure with it", true, refuse(6), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			elsewhere := 0
			const runs = 40
			for range runs {
				in(t, func(o *options.ClientOptions) {
					o.ApplyURI(o.GetURI() + "&readPreference=secondary").SetEnableOverloadRetargeting(c.retarget)
				}, func(w *world) {
					w.pass(time.Second) // both secondaries are discovered
					var asked []int
					w.heal = w.set.Use("find", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
						if asked = append(asked, r.Member); len(asked) == 1 {
							return c.fault
						}
						return mongotest.Fault{}
					}))
					_ = findOne(w)
					if len(asked) != 2 {
						t.Fatalf("asked were %v", asked)
					}
					if asked[0] != asked[1] {
						elsewhere++
					}
				})
			}
			if (elsewhere == runs) != c.always {
				t.Errorf("%d of %d second attempts went to another member", elsewhere, runs)
			}
		})
	}
}

// From the third attempt on an operation with a deadline waits for a change of the topology, at most for the monitors'
// shortest interval; the second attempt is immediate.
func TestThePaceOfAttempts(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(ctx context.Context, w *world) error
		code mongotest.Fault
		cmd  string
		want []time.Duration // since the first attempt
	}{
		{
			"a read", func(ctx context.Context, w *world) error { return w.coll.FindOne(ctx, doc("_id", 1)).Err() },
			refuse(6), "find",
			[]time.Duration{0, 0, 500 * time.Millisecond, time.Second, 1500 * time.Millisecond},
		},
		{
			"a write", func(ctx context.Context, w *world) error { return writes[2].do(ctx, w.coll) },
			refuse(1, "RetryableWriteError"), "update",
			[]time.Duration{0, 0, 500 * time.Millisecond, time.Second, 1500 * time.Millisecond},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.seed()
				w.pass(2 * time.Second) // the monitors rest until their next interval
				var at []time.Duration
				var start time.Time
				w.heal = w.set.Use(c.cmd, mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
					if len(at) == 0 {
						start = time.Now()
					}
					if at = append(at, time.Since(start)); len(at) == len(c.want) {
						return mongotest.Fault{}
					}
					return c.code
				}))
				ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
				defer cancel()
				w.must(c.do(ctx, w))
				if !slices.Equal(at, c.want) {
					t.Errorf("attempts at %v, want %v", at, c.want)
				}
			})
		})
	}
}

// After network errors, too, the third attempt waits: here for the monitors' shortest interval, as all members are known.
func TestThePaceOfAttemptsAfterNetworkErrors(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.ApplyURI(o.GetURI() + "&readPreference=nearest") }, func(w *world) {
		w.pass(2 * time.Second) // every member is discovered, and the monitors rest
		var at []time.Time
		w.heal = w.set.Use("find", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
			if at = append(at, time.Now()); len(at) > 2 {
				return mongotest.Fault{}
			}
			return loseReply
		}))
		ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
		defer cancel()
		if err := w.coll.FindOne(ctx, doc("_id", 1)).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
			t.Fatal(err)
		}
		if first, second := at[1].Sub(at[0]), at[2].Sub(at[1]); first != 0 || second != 500*time.Millisecond {
			t.Errorf("the second attempt came after %v, the third after %v", first, second)
		}
	})
}

// The first retry comes after a random part of twice the base: the server's own, or 100 ms.
func TestTheServersBackoffIsObeyed(t *testing.T) {
	for _, c := range []struct {
		name  string
		base  any
		least time.Duration // of the longest of twenty delays
		most  time.Duration
	}{
		{"a base of a second", int64(1000), 500 * time.Millisecond, 2 * time.Second},
		{"a base of a millisecond", 1, 500 * time.Microsecond, 2 * time.Millisecond},
		{"a base of nothing", 0, 50 * time.Millisecond, 200 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			var longest time.Duration
			for range 20 {
				in(t, nil, func(w *world) {
					w.seed()
					n := 0
					w.heal = w.set.Use("find", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
						if n++; n > 1 {
							return next(r)
						}
						return mongotest.NewReply(doc(
							"ok", 0, "code", 462, "errmsg", "overloaded", "baseBackoffMS", c.base,
							"errorLabels", bson.A{"SystemOverloadedError", "RetryableError"},
						))
					})
					start := time.Now()
					w.must(findOne(w))
					longest = max(longest, time.Since(start))
				})
			}
			if longest < c.least || longest > c.most {
				t.Errorf("the longest of twenty took %v, want %v to %v", longest, c.least, c.most)
			}
		})
	}
}

// Client Backpressure: no wait that would pass the deadline is begun.
func TestABackoffPastTheDeadlineIsNotWaited(t *testing.T) {
	for range 20 {
		in(t, nil, func(w *world) {
			w.seed()
			w.heal = w.set.Use("find", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
				return mongotest.NewReply(doc(
					"ok", 0, "code", 462, "errmsg", "overloaded", "baseBackoffMS", 10_000,
					"errorLabels", bson.A{"SystemOverloadedError", "RetryableError"},
				))
			})
			ctx, cancel := context.WithTimeout(w.ctx, 10*time.Millisecond)
			defer cancel()
			start := time.Now()
			err := w.coll.FindOne(ctx, doc("_id", 1)).Err()
			if took := time.Since(start); len(w.started("find")) == 1 && took != 0 {
				t.Errorf("after %v: %v", took, err)
			}
			checkCode(t, err, 462)
		})
	}
}

// A client that was disconnected says so, whatever state its pools are in.
func TestAfterDisconnectOperationsSaySo(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		w.must(w.client.Disconnect(w.ctx))
		if err := findOne(w); !errors.Is(err, mongo.ErrClientDisconnected) {
			t.Errorf("error: %v", err)
		}
		var err error
		w.client, err = mongo.Connect(options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer()))
		w.must(err)
	})
}
