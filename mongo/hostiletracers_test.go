package mongo_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/telemetry"
)

// everyCall is a tracer that calls at for each call of its functions, and returns the context that at does.
func everyCall(at func(ctx context.Context, place string) context.Context) *telemetry.Tracer {
	return &telemetry.Tracer{
		ClientOpened: func(*telemetry.Client) { at(context.Background(), "ClientOpened") },
		ClientClosed: func(*telemetry.Client) { at(context.Background(), "ClientClosed") },
		OperationBegan: func(ctx context.Context, _ *telemetry.Operation) context.Context {
			return at(ctx, "OperationBegan")
		},
		OperationEnded: func(ctx context.Context, _ *telemetry.Operation, _ error) { at(ctx, "OperationEnded") },
		SelectionBegan: func(ctx context.Context, _ *telemetry.Selection) context.Context {
			return at(ctx, "SelectionBegan")
		},
		SelectionWaits: func(ctx context.Context, _ *telemetry.Selection, _ time.Duration) { at(ctx, "SelectionWaits") },
		SelectionEnded: func(ctx context.Context, _ *telemetry.Selection, _ *telemetry.Selected) { at(ctx, "SelectionEnded") },
		AttemptBegan:   func(ctx context.Context, _ *telemetry.Attempt) context.Context { return at(ctx, "AttemptBegan") },
		AttemptEnded:   func(ctx context.Context, _ *telemetry.Attempt, _ *telemetry.Result) { at(ctx, "AttemptEnded") },
		Decided:        func(ctx context.Context, _ *telemetry.Decision) { at(ctx, "Decided") },
		TransactionBegan: func(ctx context.Context, _ time.Time) context.Context {
			return at(ctx, "TransactionBegan")
		},
		TransactionEnded: func(ctx context.Context, _ bool, _ error) { at(ctx, "TransactionEnded") },
		Pool:             func(ctx context.Context, e *telemetry.PoolEvent) { at(ctx, poolEventNames[e.Kind]) },
	}
}

// hostile is a tracer that does something odd at the first call of one place.
type hostile struct {
	*testing.T
	place  string
	client atomic.Pointer[mongo.Client]
	back   chan struct{} // closed when the place may return

	mu   sync.Mutex
	done bool
	seen map[string]bool
}

// oddities are what it does.
var oddities = map[string]func(h *hostile, ctx context.Context) context.Context{
	"disconnects": func(h *hostile, ctx context.Context) context.Context {
		h.disconnect(context.Background(), 1100*time.Millisecond)
		return ctx
	},
	"blocks": func(h *hostile, ctx context.Context) context.Context {
		<-h.back
		return ctx
	},
	"asks": func(h *hostile, ctx context.Context) context.Context {
		if c := h.client.Load(); c != nil {
			limited, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_ = c.Ping(limited, nil)
			c.PoolStats()
		}
		return ctx
	},
	"returns no context": func(*hostile, context.Context) context.Context { return nil },
	"returns a context that has ended": func(_ *hostile, ctx context.Context) context.Context {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx
	},
}

func (h *hostile) disconnect(ctx context.Context, atMost time.Duration) {
	c := h.client.Load()
	if c == nil {
		return
	}
	began := time.Now()
	_ = c.Disconnect(ctx) // it may have been called before
	if took := time.Since(began); took > atMost {
		h.Errorf("Disconnect took %v", took)
	}
}

func (h *hostile) at(does func(*hostile, context.Context) context.Context) func(context.Context, string) context.Context {
	return func(ctx context.Context, place string) context.Context {
		h.mu.Lock()
		h.seen[place] = true
		odd := place == h.place && !h.done
		h.done = h.done || odd
		h.mu.Unlock()
		if odd {
			return does(h, ctx)
		}
		return ctx
	}
}

// use makes the client call each function of its tracer. Its operations fail if the tracer ends them.
func (h *hostile) use(set *mongotest.Deployment) {
	ctx, cancel := context.WithTimeout(h.Context(), time.Hour)
	defer cancel()
	client := h.client.Load()
	coll := client.Database("test").Collection("c")
	_ = coll.FindOne(ctx, d{}).Err() // it waits for the server
	for _, fault := range []mongotest.Fault{refuse(262), {LoseReply: true}} {
		set.Use("insert", mongotest.FaultOnce(fault))
		_, _ = coll.InsertOne(ctx, d{})
	}
	_ = client.UseSession(ctx, func(ctx context.Context) error {
		_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
			return coll.InsertOne(ctx, d{})
		})
		return err
	})
	set.Use("find", mongotest.FaultOnce(mongotest.Fault{Delay: time.Second}))
	long := make(chan struct{})
	go func() {
		defer close(long)
		_ = coll.FindOne(ctx, d{}).Err()
	}()
	wait(100 * time.Millisecond)
	short, end := context.WithTimeout(ctx, 100*time.Millisecond)
	defer end()
	_ = coll.FindOne(short, d{}).Err() // it gets no connection
	<-long
}

// check uses a client, and checks that nothing is left of it.
func (h *hostile) check(oddity string) {
	set := mongotest.RunReplicaSetT(h.T, 1, mongotest.InMemory(), mongotest.Version("8.0"))
	dialer := &countingDialer{departure: &departure{}, to: set.Dialer()}
	o := options.Client().SetDialer(dialer).SetMaxPoolSize(1)
	h.back = make(chan struct{})
	inOpen := h.place == "ClientOpened" || h.place == poolEventNames[telemetry.PoolCreated] // which waits for them
	if inOpen {
		close(h.back)
	}
	client, err := mongo.Open(set.URI(), mongo.Config{Tracer: everyCall(h.at(oddities[oddity]))}, o)
	if err != nil {
		h.Fatal(err)
	}
	h.client.Store(client)
	used := make(chan struct{})
	go func() {
		defer close(used)
		h.use(set)
	}()
	ctx, limit := context.Background(), 100*time.Millisecond
	if oddity == "blocks" {
		wait(time.Minute)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		limit = 350 * time.Millisecond
	} else {
		<-used
		if err := client.Ping(h.Context(), nil); err != nil && oddity != "disconnects" {
			h.Errorf("the next operation: %v", err)
		}
	}
	if h.place == "ClientClosed" || strings.HasSuffix(h.place, "closed") {
		limit += time.Second // it is called by Disconnect itself
	}
	if n := client.NumberSessionsInProgress(); n != 0 && oddity != "blocks" {
		h.Errorf("%d sessions are in use", n)
	}
	h.disconnect(ctx, limit)
	if !inOpen {
		close(h.back)
	}
	<-used
	wait(3 * time.Second)
	synctest.Wait()
	if n := dialer.open.Load(); n != 0 {
		h.Errorf("%d connections are open", n)
	}
	if left := goroutinesOfTheClient(); left != "" && !strings.Contains(left, "hostiletracers_test") {
		h.Errorf("goroutines are left:\n%s", left)
	}
}

// A function of a tracer may do what it wants: nothing stays of the client, and Disconnect keeps its rules.
func TestATracerMayDoAnythingInACall(t *testing.T) {
	run := func(t *testing.T, place, oddity string) *hostile {
		h := &hostile{place: place, seen: map[string]bool{}}
		synctest.Test(t, func(t *testing.T) {
			h.T = t
			h.check(oddity)
		})
		return h
	}
	places := run(t, "", "asks").seen
	for _, name := range poolEventNames {
		if name != "" && !places[name] {
			t.Errorf("there was no event %q", name)
		}
	}
	for oddity := range oddities {
		for _, place := range slices.Sorted(maps.Keys(places)) {
			if strings.HasPrefix(oddity, "returns") && !strings.HasSuffix(place, "Began") {
				continue
			}
			t.Run(oddity+" in "+place, func(t *testing.T) {
				if h := run(t, place, oddity); !h.done {
					t.Error("it was not called")
				}
			})
		}
	}
}
