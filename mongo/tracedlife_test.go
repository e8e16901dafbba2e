package mongo_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/telemetry"
)

// poolEventNames are the names of the events in the tests.
var poolEventNames = [...]string{
	telemetry.PoolCreated: "pool created", telemetry.PoolReady: "pool ready", telemetry.PoolCleared: "pool cleared",
	telemetry.PoolClosed: "pool closed", telemetry.ConnectionCreated: "connection created", telemetry.ConnectionReady: "connection ready",
	telemetry.ConnectionClosed: "connection closed", telemetry.CheckoutBegan: "checkout", telemetry.CheckoutFailed: "checkout failed",
	telemetry.CheckedOut: "checked out", telemetry.CheckedIn: "checked in",
}

// life is a tracer that is told of selections, checkouts and decisions too. What has no operation is not indented.
func (l *traced) life() *telemetry.Tracer {
	t := l.tracer()
	t.SelectionBegan = func(ctx context.Context, s *telemetry.Selection) context.Context {
		if s.Operation == nil || s.Began.IsZero() || s.Topology() == "" || s.Selector() == "" || s.OperationID == 0 {
			l.say(ctx, "wrong: %+v", s)
		}
		l.say(ctx, "selection for %s", s.Name)
		return context.WithValue(ctx, depthKey{}, depth(ctx)+1)
	}
	t.SelectionWaits = func(ctx context.Context, s *telemetry.Selection, atMost time.Duration) {
		l.say(ctx, "waits at most %v, again %v", atMost, s.WaitedBefore)
	}
	t.SelectionEnded = func(ctx context.Context, _ *telemetry.Selection, r *telemetry.Selected) {
		l.say(ctx, "selected: %v after %v, %T", r.Address != "", r.Took, r.Err)
	}
	t.Decided = func(ctx context.Context, d *telemetry.Decision) {
		if d.Operation == nil || d.Err == nil {
			l.say(ctx, "wrong: %+v", d)
		}
		l.say(ctx, "attempt %d, server %v, %s, %s: %q, delay %v", d.Attempt, d.Address != "", d.Stage, d.Reason, d.StopReason, d.Delay)
	}
	t.Pool = func(ctx context.Context, e *telemetry.PoolEvent) {
		if e.System != telemetry.MongoDB || e.Address == "" {
			l.say(ctx, "wrong: %+v", e)
		}
		text := poolEventNames[e.Kind]
		switch e.Kind { //nolint:exhaustive // the others have no more
		case telemetry.PoolCreated:
			text += fmt.Sprintf(", %d to %d", e.Min, e.Max)
		case telemetry.PoolCleared:
			text += fmt.Sprintf(", %T", e.Err)
		case telemetry.ConnectionCreated, telemetry.ConnectionReady, telemetry.CheckedOut, telemetry.CheckedIn:
			text += fmt.Sprintf(" %d after %v", e.ID, e.Took)
		case telemetry.ConnectionClosed, telemetry.CheckoutFailed:
			text += fmt.Sprintf(", %s, %T", e.Reason, e.Err)
		}
		l.say(ctx, "%s", text)
	}
	return t
}

func TestWhatATracerIsToldOfTheWayOfAnOperation(t *testing.T) {
	onePool := func(o *options.ClientOptions) { o.SetMaxPoolSize(1) }
	killAll := func(w *world) {
		for i := range 3 {
			w.set.Kill(i)
		}
	}
	for name, test := range map[string]struct {
		before func(w *world)
		do     func(w *world)
		want   string
	}{
		"a retry": {nil, func(w *world) {
			w.set.Use("find", mongotest.FaultOnce(refuse(262)))
			w.must(w.coll.FindOne(w.ctx, d{}).Err())
		}, `find test.c
		|  selection for find
		|    selected: true after 0s, <nil>
		|  checkout
		|  checked out 1 after 0s
		|  0: find test.c
		|    failed with mongo.CommandError, code 262
		|checked in 1 after 0s
		|  attempt 0, server true, answered, RETRYABLE_CODE: "", delay 0s
		|  selection for find
		|    selected: true after 0s, <nil>
		|  checkout
		|  checked out 1 after 0s
		|  1: find test.c
		|    ended
		|checked in 1 after 0s
		|  ended`},
		"no server": {killAll, func(w *world) {
			ctx, cancel := context.WithTimeout(w.ctx, 10*time.Millisecond)
			defer cancel()
			if w.coll.FindOne(ctx, d{}).Err() == nil {
				w.Error("no error")
			}
		}, `find test.c
		|  selection for find
		|    waits at most 10ms, again false
		|    selected: false after 10ms, *cluster.SelectionError
		|  attempt 0, server false, before sending, UNKNOWN: "deadline would pass", delay 0s
		|  failed with operation.NoServer`},
		"a refusal": {nil, func(w *world) {
			w.set.Use("update", mongotest.FaultOnce(refuse(66)))
			_, err := w.coll.UpdateOne(w.ctx, d{}, doc("$set", doc("a", 1)))
			if err == nil {
				w.Error("no error")
			}
		}, `update test.c
		|  selection for update
		|    selected: true after 0s, <nil>
		|  checkout
		|  checked out 1 after 0s
		|  0: update test.c, numbered
		|    failed with mongo.CommandError, code 66
		|checked in 1 after 0s
		|  attempt 0, server true, answered, UNKNOWN: "not retryable", delay 0s
		|  failed with mongo.CommandError`},
		"a full pool": {nil, func(w *world) {
			w.set.Use("find", mongotest.FaultOnce(mongotest.Fault{Delay: time.Minute}))
			waiting := make(chan error)
			go func() { waiting <- w.coll.FindOne(w.ctx, d{}).Err() }()
			w.pass(time.Second)
			ctx, cancel := context.WithTimeout(w.ctx, 2*time.Second)
			defer cancel()
			if w.coll.FindOne(ctx, d{}).Err() == nil {
				w.Error("no error")
			}
			w.must(<-waiting)
		}, `find test.c
		|  selection for find
		|    selected: true after 0s, <nil>
		|  checkout
		|  checked out 1 after 0s
		|  0: find test.c
		|find test.c
		|  selection for find
		|    selected: true after 0s, <nil>
		|  checkout
		|  checkout failed, timeout, *cluster.CheckOutError
		|  attempt 0, server true, before sending, UNKNOWN: "deadline would pass", delay 0s
		|  failed with *operation.WithHistory
		|    ended
		|checked in 1 after 1m0s
		|  ended`},
	} {
		t.Run(name, func(t *testing.T) {
			l := &traced{}
			opened(t, mongo.Config{Tracer: l.life()}, onePool, func(w *world) {
				w.seed()
				if test.before != nil {
					test.before(w)
				}
				w.pass(time.Minute) // what happened before has been told
				l.take()
				test.do(w)
				want := strings.Split(strings.NewReplacer("\t", "", "|", "").Replace(test.want), "\n")
				if got := l.take(); !slices.Equal(got, want) {
					t.Errorf("the tracer was told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}, mongotest.Version("8.0"))
		})
	}
}

// What a client tells of itself, from its beginning to its end.
func TestATracerIsToldOfTheClient(t *testing.T) {
	var known, gone *telemetry.Client
	tracer := &telemetry.Tracer{
		ClientOpened: func(c *telemetry.Client) { known = c },
		ClientClosed: func(c *telemetry.Client) { gone = c },
	}
	budget, err := retry.NewBudget(retry.BudgetOptions{Ratio: 0.1, Burst: 7})
	if err != nil {
		t.Fatal(err)
	}
	cfg := mongo.Config{Tracer: tracer, Budget: budget, Breaker: retry.DefaultBreakerOptions()}
	opened(t, cfg, nil, func(w *world) {
		w.seed()
		if known == nil || known.System != telemetry.MongoDB || gone != nil {
			t.Fatalf("the tracer knows %+v, and the end of %+v", known, gone)
		}
		if got := fmt.Sprint(known.Pools()); got != fmt.Sprint(w.client.PoolStats()) {
			t.Errorf("the client tells of %s", got)
		}
		limits := known.Limits()
		if limits.Budget == nil || *limits.Budget != 7 || len(limits.Breakers) != 3 || limits.Breakers[0].State != "closed" {
			t.Errorf("the client tells of %+v", limits)
		}
	})
	if gone != known {
		t.Errorf("the tracer was told of the end of %+v", gone)
	}
	for _, pool := range known.Pools() {
		if pool.Ready || pool.InUse+pool.Idle != 0 {
			t.Errorf("after the end, there is %+v", pool)
		}
	}
}

// The number of documents that are sent, and of those that come.
func TestATracerIsToldOfTheNumberOfDocuments(t *testing.T) {
	var attempts, replies []string
	asked := &telemetry.Tracer{AttemptEnded: func(_ context.Context, a *telemetry.Attempt, r *telemetry.Result) {
		attempts = append(attempts, fmt.Sprintf("%s %d %d", a.Name, a.Batch, r.Rows))
	}}
	short := &telemetry.Tracer{OperationEnded: func(_ context.Context, o *telemetry.Operation, _ error) {
		replies = append(replies, fmt.Sprintf("%s %d", o.Name, o.Rows))
	}}
	for _, tracer := range []*telemetry.Tracer{asked, short, telemetry.Join(asked, short)} {
		attempts, replies = nil, nil
		opened(t, mongo.Config{Tracer: tracer}, nil, func(w *world) {
			w.sendAndGet()
			want := []string{
				"insert 3 -1", "find 0 2", "bulkWrite 2 -1", "aggregate 0 1", "distinct 0 -1", "find 0 3", "getMore 0 1", "update 1 -1", "ping 0 -1",
			}
			if tracer.AttemptEnded != nil && !slices.Equal(attempts, want) {
				t.Errorf("the tracer was told %q, want %q", attempts, want)
			}
			want = []string{
				"insert -1", "find 2", "bulkWrite -1", "aggregate 1", "distinct -1", "find 3", "getMore 1", "update -1", "runCommand -1",
			}
			if tracer.OperationEnded != nil && !slices.Equal(replies, want) {
				t.Errorf("the tracer was told of the operations %q, want %q", replies, want)
			}
		}, mongotest.Version("8.0"))
	}
}

// sendAndGet sends documents, and gets some.
func (w *world) sendAndGet() {
	_, err := w.coll.InsertMany(w.ctx, []d{doc("a", 1), doc("a", 1), doc("a", 2)})
	w.must(err)
	found, err := w.coll.Find(w.ctx, doc("a", 1))
	w.must(err)
	w.must(found.All(w.ctx, &[]d{}))
	_, err = w.client.BulkWrite(w.ctx, []mongo.ClientBulkWrite{
		{Database: "test", Collection: "c", Model: mongo.NewClientInsertOneModel().SetDocument(d{})},
		{Database: "test", Collection: "e", Model: mongo.NewClientDeleteOneModel().SetFilter(d{})},
	})
	w.must(err)
	_, err = w.coll.CountDocuments(w.ctx, d{})
	w.must(err)
	w.must(w.coll.Distinct(w.ctx, "a", d{}).Err())
	found, err = w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(3))
	w.must(err)
	w.must(found.All(w.ctx, &[]d{}))
	_, err = w.coll.UpdateOne(w.ctx, d{}, doc("$set", doc("a", 3)))
	w.must(err)
	w.must(w.client.Ping(w.ctx, nil))
}

// A tracer that only wants to know of waits is told of them.
func TestATracerMayHaveOneFunctionOfSelections(t *testing.T) {
	waits := 0
	tracer := &telemetry.Tracer{SelectionWaits: func(context.Context, *telemetry.Selection, time.Duration) { waits++ }}
	opened(t, mongo.Config{Tracer: tracer}, nil, func(w *world) {
		ctx, cancel := context.WithTimeout(w.ctx, time.Second)
		defer cancel()
		// No server has the tag; one for the primary may be there before the ping asks.
		if err := w.client.Ping(ctx, readpref.Nearest(readpref.WithTags("dc", "none"))); err == nil || waits != 1 {
			t.Errorf("the tracer was told of %d waits; the error is %v", waits, err)
		}
	})
}

func TestAPoolWithoutALimitHasNone(t *testing.T) {
	opened(t, mongo.Config{}, func(o *options.ClientOptions) { o.SetMaxPoolSize(0) }, func(w *world) {
		for _, pool := range w.client.PoolStats() {
			if pool.Max != 0 {
				t.Errorf("the limit is %d", pool.Max)
			}
		}
	})
}

// A session whose transaction a tracer ended by a panic can begin another one.
func TestATracerThatPanicsEndsTheTransaction(t *testing.T) {
	panics := true
	tracer := &telemetry.Tracer{TransactionBegan: func(ctx context.Context, _ time.Time) context.Context {
		if panics {
			panic("a tracer")
		}
		return ctx
	}}
	opened(t, mongo.Config{Tracer: tracer}, nil, func(w *world) {
		w.must(w.client.UseSession(w.ctx, func(ctx context.Context) error {
			run := func() (recovered any, err error) {
				defer func() { recovered = recover() }()
				_, err = mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
					return w.coll.InsertOne(ctx, d{})
				})
				return nil, err
			}
			if recovered, _ := run(); recovered != "a tracer" {
				t.Errorf("the panic is %v", recovered)
			}
			panics = false
			_, err := run()
			return err
		}))
	})
}

// The error type is the code of the error that the application gets, also after an attempt with another one.
func TestTheErrorTypeOfARetriedWrite(t *testing.T) {
	var told []string
	tracer := &telemetry.Tracer{OperationEnded: func(_ context.Context, o *telemetry.Operation, _ error) {
		told = append(told, o.Name+" "+o.ErrorType)
	}}
	opened(t, mongo.Config{Tracer: tracer}, nil, func(w *world) {
		one := doc("_id", 1)
		for _, c := range []struct {
			command string
			write   func() error
		}{
			{"insert", func() error { _, err := w.coll.InsertMany(w.ctx, []d{one, one}); return err }},
			{"insert", func() error { _, err := w.coll.InsertOne(w.ctx, one); return err }},
			{"bulkWrite", func() error {
				_, err := w.client.BulkWrite(w.ctx, []mongo.ClientBulkWrite{
					{Database: "test", Collection: "c", Model: mongo.NewClientInsertOneModel().SetDocument(one)},
				})
				return err
			}},
		} {
			w.set.Use(c.command, mongotest.FaultOnce(refuse(262)))
			if c.write() == nil {
				t.Error("no error")
			}
		}
		if want := []string{"insert 11000", "insert 11000", "bulkWrite 11000"}; !slices.Equal(told, want) {
			t.Errorf("the tracer was told %q, want %q", told, want)
		}
	}, mongotest.Version("8.0"))
}
