package mongo_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// withOptions adds options to the connection string of the client.
func withOptions(more string) func(*options.ClientOptions) {
	return func(o *options.ClientOptions) { o.ApplyURI(o.GetURI() + "&" + more) }
}

// URI Options, "wTimeoutMS": the default wtimeout of the client's write concern. Client-Side Operations Timeout, "Validation and
// Overrides": it is ignored if timeoutMS is set.
func TestWhichWritesHaveTheWTimeoutOfTheConnectionString(t *testing.T) {
	const wtimeout = `"wtimeout": {"$numberLong":"5000"}`
	deadline := func(w *world) context.Context {
		ctx, cancel := context.WithTimeout(w.ctx, time.Hour)
		w.Cleanup(cancel)
		return ctx
	}
	insert := func(w *world) error { return insertOne(w.ctx, w.coll) }
	for _, c := range []struct {
		name, uri string
		do        func(*world) error
		command   string
		want      []string
	}{
		{"a write has it alone", "wTimeoutMS=5000", insert, "insert", []string{`writeConcern: {` + wtimeout + `}`}},
		{
			"a write has it beside w and j", "w=2&journal=true&wtimeoutms=5000", insert, "insert",
			[]string{`writeConcern: {"w": {"$numberInt":"2"},"j": true,` + wtimeout + `}`},
		},
		{"the last of two counts", "wTimeoutMS=7&wTimeoutMS=5000", insert, "insert", []string{`writeConcern: {` + wtimeout + `}`}},
		{"0 means none", "wTimeoutMS=0", insert, "insert", []string{""}},
		{"the old name is ignored", "wtimeout=5000", insert, "insert", []string{""}},
		{"a deadline replaces it", "wTimeoutMS=5000", func(w *world) error { return insertOne(deadline(w), w.coll) }, "insert", []string{""}},
		{"timeoutMS replaces it", "wTimeoutMS=5000&timeoutMS=60000", insert, "insert", []string{""}},
		{"timeoutMS 0 replaces it", "wTimeoutMS=5000&timeoutMS=0", insert, "insert", []string{""}},
		{"a collection's own write concern has none", "wTimeoutMS=5000", func(w *world) error {
			return insertOne(w.ctx, w.coll.Clone(options.Collection().SetWriteConcern(writeconcern.W1())))
		}, "insert", []string{`writeConcern: {"w": {"$numberInt":"1"}}`}},
		{"a command that creates has it", "wTimeoutMS=5000", func(w *world) error {
			return w.client.Database("test").CreateCollection(w.ctx, "other")
		}, "create", []string{`writeConcern: {` + wtimeout + `}`}},
		{"an aggregation that writes has it", "wTimeoutMS=5000", func(w *world) error {
			_, err := w.coll.Aggregate(w.ctx, []d{doc("$out", "other")})
			return err
		}, "aggregate", []string{`writeConcern: {` + wtimeout + `}`}},
		{"a read has none", "wTimeoutMS=5000", findOne, "find", []string{""}},
		{"a commit has it, and so has its retry with w: majority", "wTimeoutMS=5000", func(w *world) error {
			s, ctx := w.transaction()
			defer s.EndSession(w.ctx)
			w.must(insertOne(ctx, w.coll))
			w.script("commitTransaction", loseReply)
			return s.CommitTransaction(w.ctx)
		}, "commitTransaction", []string{`writeConcern: {` + wtimeout + `}`, `writeConcern: {"w": "majority",` + wtimeout + `}`}},
		{"a commit with a deadline has none, and its retry 10 seconds", "wTimeoutMS=5000", func(w *world) error {
			s, ctx := w.transaction()
			defer s.EndSession(w.ctx)
			w.must(insertOne(ctx, w.coll))
			w.script("commitTransaction", loseReply)
			return s.CommitTransaction(deadline(w))
		}, "commitTransaction", []string{"", `writeConcern: {"w": "majority","wtimeout": {"$numberLong":"10000"}}`}},
		{"the commands of a transaction have none", "wTimeoutMS=5000", func(w *world) error {
			s, ctx := w.transaction()
			defer s.EndSession(w.ctx)
			return insertOne(ctx, w.coll)
		}, "insert", []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, withOptions(c.uri), func(w *world) {
				w.seed()
				w.forget()
				w.must(c.do(w))
				if got := w.concerns(c.command); !slices.Equal(got, c.want) {
					t.Errorf("write concerns %q, want %q", got, c.want)
				}
			})
		})
	}
}

// The server reports a write whose write concern was not satisfied within wtimeout.
func TestTheServerObeysTheWTimeoutOfTheConnectionString(t *testing.T) {
	in(t, withOptions("w=3&wTimeoutMS=5000"), func(w *world) {
		w.seed()
		w.set.Isolate(2)
		w.heal = w.set.Heal
		began := time.Now()
		err := insertOne(w.ctx, w.coll)
		var failed mongo.WriteException
		if took := time.Since(began).Truncate(100 * time.Millisecond); !errors.As(err, &failed) || failed.WriteConcernError == nil ||
			failed.WriteConcernError.Code != 64 || took != 5*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// Client-Side Operations Timeout, "Command Execution": socketTimeoutMS limits the reads and writes on the sockets of operations
// if timeoutMS is not set; a timeout is a network error, so the retry rules apply. Server Discovery and Monitoring, "Network error
// when reading or writing": a timeout says nothing about the server.
func TestTheSocketTimeoutOfTheConnectionString(t *testing.T) {
	slow := mongotest.Fault{Delay: 2 * time.Second}
	within := func(d time.Duration) func(*world) error {
		return func(w *world) error {
			ctx, cancel := context.WithTimeout(w.ctx, d)
			defer cancel()
			return w.coll.FindOne(ctx, doc()).Err()
		}
	}
	for _, c := range []struct {
		name, uri string
		faults    []mongotest.Fault
		do        func(*world) error
		fails     bool
		took      time.Duration
		sent      int
	}{
		{"a slow reply is a network error, which is retried", "socketTimeoutMS=500", []mongotest.Fault{slow}, findOne, false, 500 * time.Millisecond, 2},
		{"two slow replies are an error", "socketTimeoutMS=500", []mongotest.Fault{slow, slow}, findOne, true, time.Second, 2},
		{"without retries one is", "socketTimeoutMS=500&retryReads=false", []mongotest.Fault{slow}, findOne, true, 500 * time.Millisecond, 1},
		{"0 means no limit", "socketTimeoutMS=0", []mongotest.Fault{slow}, findOne, false, 2 * time.Second, 1},
		{"a deadline replaces it", "socketTimeoutMS=500", []mongotest.Fault{slow}, within(time.Minute), false, 2 * time.Second, 1},
		{"timeoutMS replaces it", "socketTimeoutMS=500&timeoutMS=60000", []mongotest.Fault{slow}, findOne, false, 2 * time.Second, 1},
		{"timeoutMS 0 replaces it", "socketTimeoutMS=500&timeoutMS=0", []mongotest.Fault{slow}, findOne, false, 2 * time.Second, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, withOptions(c.uri), func(w *world) {
				w.seed()
				w.must(findOne(w))
				w.forget()
				w.script("find", c.faults...)
				began := time.Now()
				err := c.do(w)
				if took := time.Since(began).Truncate(100 * time.Millisecond); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				switch {
				case (err != nil) != c.fails:
					t.Errorf("error: %v", err)
				case c.fails && (!mongo.IsNetworkError(err) || !mongo.IsTimeout(err) || !strings.Contains(err.Error(), "socketTimeoutMS has passed")):
					t.Errorf("the error is not that of a socket: %v", err)
				}
				sent := w.started("find")
				if len(sent) != c.sent {
					t.Errorf("%d commands were sent, want %d", len(sent), c.sent)
				}
				if _, err := sent[0].Command.LookupErr("maxTimeMS"); err == nil && c.fails {
					t.Errorf("the limit was sent to the server: %v", sent[0].Command)
				}
				if w.poolEvents(event.ConnectionPoolCleared) != 0 {
					t.Error("the pool was cleared")
				}
			})
		})
	}
}

func TestASocketTimeoutDoesNotLimitTheMonitors(t *testing.T) {
	in(t, withOptions("socketTimeoutMS=100&heartbeatFrequencyMS=500&serverMonitoringMode=stream"), func(w *world) {
		w.seed()
		w.pass(time.Minute) // the hello of a stream waits for longer than the limit
		w.must(findOne(w))
		if n := w.poolEvents(event.ConnectionPoolCleared); n != 0 {
			t.Errorf("the pool was cleared %d times", n)
		}
	})
}

// The commands of the handshake have it too ("Server Selection").
func TestASocketTimeoutLimitsTheHandshake(t *testing.T) {
	in(t, func(o *options.ClientOptions) {
		poll(o)
		withOptions("socketTimeoutMS=300&retryReads=false&heartbeatFrequencyMS=1000000&maxAdaptiveRetries=0")(o)
	}, func(w *world) {
		w.pass(time.Second)
		w.script("isMaster", mongotest.Fault{Delay: 5 * time.Second})
		began := time.Now()
		err := findOne(w)
		if took := time.Since(began).Truncate(100 * time.Millisecond); err == nil || !mongo.IsTimeout(err) || took != 300*time.Millisecond {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// Connection Monitoring and Pooling, "waitQueueTimeoutMS", and Client Side Operations Timeout, "Server Selection": its timeout
// limits the checkout too.
func TestHowLongACheckoutWaitsInTheQueue(t *testing.T) {
	const held = 2 * time.Second
	for _, c := range []struct {
		name, uri string
		limit     time.Duration // of the context
		fails     string        // in the error; "": it succeeds
		took      time.Duration
	}{
		{"waitQueueTimeoutMS limits it", "waitQueueTimeoutMS=500", 0, "waitQueueTimeoutMS has passed", 500 * time.Millisecond},
		{"waitQueueTimeoutMS=0 does not", "waitQueueTimeoutMS=0", 0, "", held},
		{"a deadline replaces waitQueueTimeoutMS", "waitQueueTimeoutMS=500", time.Minute, "", held},
		{"timeoutMS replaces waitQueueTimeoutMS", "waitQueueTimeoutMS=500&timeoutMS=60000", 0, "", held},
		{"serverSelectionTimeoutMS limits it", "serverSelectionTimeoutMS=500", 0, "serverSelectionTimeoutMS has passed", 500 * time.Millisecond},
		{"also with a later deadline", "serverSelectionTimeoutMS=500", time.Minute, "serverSelectionTimeoutMS has passed", 500 * time.Millisecond},
		{"also with a longer timeoutMS", "serverSelectionTimeoutMS=500&timeoutMS=60000", 0, "serverSelectionTimeoutMS has passed", 500 * time.Millisecond},
		{"an earlier deadline comes first", "serverSelectionTimeoutMS=500", 300 * time.Millisecond, "no connection to", 300 * time.Millisecond},
		{"the shorter of both", "serverSelectionTimeoutMS=500&waitQueueTimeoutMS=400", 0, "waitQueueTimeoutMS has passed", 400 * time.Millisecond},
		{"the other is shorter", "serverSelectionTimeoutMS=500&waitQueueTimeoutMS=600", 0, "serverSelectionTimeoutMS has passed", 500 * time.Millisecond},
		{"serverSelectionTimeoutMS=0 does not", "serverSelectionTimeoutMS=0", 0, "", held},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, withOptions("maxPoolSize=1&"+c.uri), func(w *world) {
				w.seed()
				w.must(findOne(w))
				w.script("insert", mongotest.Fault{Delay: held})
				done := make(chan error)
				go func() { done <- insertOne(w.ctx, w.coll) }()
				w.pass(time.Millisecond)
				ctx := w.ctx
				if c.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.limit)
					defer cancel()
				}
				began := time.Now().Add(-time.Millisecond)
				err := w.coll.FindOne(ctx, doc()).Err()
				if took := time.Since(began).Truncate(100 * time.Millisecond); took != c.took || (err != nil) != (c.fails != "") {
					t.Errorf("after %v: %v", took, err)
				}
				if c.fails != "" && (!mongo.IsTimeout(err) || !strings.Contains(err.Error(), c.fails)) {
					t.Errorf("error: %v", err)
				}
				if w.poolEvents(event.ConnectionPoolCleared) != 0 {
					t.Error("the pool was cleared")
				}
				w.must(<-done)
			})
		})
	}
}

// The time limit of an attempt is the newer option: it replaces those of the connection string.
func TestAnAttemptTimeoutReplacesTheTimeoutsOfTheConnectionString(t *testing.T) {
	insideWith(t, replicaSet, func(o *options.ClientOptions) (*mongo.Client, error) {
		uri := o.GetURI() + "&socketTimeoutMS=100&waitQueueTimeoutMS=100"
		return mongo.Open(uri, mongo.Config{AttemptTimeout: 5 * time.Second}, options.Client().SetDialer(o.Dialer).SetMonitor(o.Monitor))
	}, func(w *world) {
		w.seed()
		w.forget()
		w.script("find", mongotest.Fault{Delay: time.Second})
		w.must(findOne(w))
		if n := len(w.started("find")); n != 1 {
			t.Errorf("%d commands were sent", n)
		}
	})
}

// Open reads them from its first argument.
func TestOpenSupportsTheTimeoutsOfTheConnectionString(t *testing.T) {
	insideWith(t, replicaSet, func(o *options.ClientOptions) (*mongo.Client, error) {
		uri := o.GetURI() + "&socketTimeoutMS=100&retryReads=false"
		return mongo.Open(uri, mongo.Config{}, options.Client().SetDialer(o.Dialer).SetMonitor(o.Monitor))
	}, func(w *world) {
		w.seed()
		w.script("find", mongotest.Fault{Delay: time.Second})
		if err := findOne(w); !mongo.IsTimeout(err) {
			t.Errorf("error: %v", err)
		}
	})
}

func TestAMalformedTimeoutInTheConnectionStringIsAnError(t *testing.T) {
	for _, name := range []string{"socketTimeoutMS", "waitQueueTimeoutMS", "wTimeoutMS"} {
		for _, value := range []string{"", "abc", "-1", "1.5", "9223372036855", "99999999999999999999"} {
			_, err := mongo.Connect(options.Client().ApplyURI("mongodb://127.0.0.1:1/?" + name + "=" + value))
			if err == nil || !strings.Contains(err.Error(), `"`+name+`"`) || !strings.Contains(err.Error(), `"`+value+`"`) {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		}
	}
}
