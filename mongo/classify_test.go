package mongo_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
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

// greet does a fault to the first hello of each connection to a mongos, a standalone or the member that is the first primary. Several
// connections may call f at once.
func (w *world) greet(f func(n int) mongotest.Fault) {
	var n atomic.Int64
	w.heal = w.set.Use("hello", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
		if _, err := r.Body.LookupErr("backpressure"); err != nil || r.Member > 0 {
			return mongotest.Fault{}
		}
		return f(int(n.Add(1)))
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
		if first.Reason != mongoreason.PoolCleared || first.Stage != retry.StageBeforeSending || first.StopReason != retry.NotStopped ||
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
				var greeted atomic.Int64
				w.greet(func(int) mongotest.Fault {
					greeted.Add(1)
					return c.fault
				})
				err := c.do(w)
				if n := int(greeted.Load()); err == nil || n != c.attempts {
					t.Errorf("%d handshakes, want %d: %v", n, c.attempts, err)
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
					if a.Stage != retry.StageBeforeSending || a.Reason != c.reason || a.Endpoint == "" {
						t.Errorf("the attempt is %+v", a)
					}
				}
			})
		})
	}
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
