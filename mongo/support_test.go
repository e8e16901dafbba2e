package mongo_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

type (
	d = bson.D
	e = bson.E
)

// doc returns a document of key and value pairs.
func doc(pairs ...any) d {
	out := d{}
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, e{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return out
}

// world is a deployment, a client and what the client's listeners heard, inside a bubble of the fake clock.
type world struct {
	*testing.T
	ctx    context.Context
	set    *mongotest.Deployment
	heal   func() // takes the script out of use
	client *mongo.Client
	coll   *mongo.Collection

	mu     sync.Mutex
	events []*event.CommandStartedEvent
	ends   int
	failed int
	pool   []*event.PoolEvent
	onPool func(*event.PoolEvent)
}

// in runs f in a bubble with a replica set of three in memory and a client whose options configure may change.
func in(t *testing.T, configure func(*options.ClientOptions), f func(w *world), opts ...mongotest.Option) {
	t.Helper()
	inside(t, func() (*mongotest.Deployment, error) {
		return mongotest.RunReplicaSet(3, append(opts, mongotest.InMemory())...)
	}, configure, f)
}

// poll configures monitors that poll, for tests whose script is about the hellos of an operation's connections, or changes
// each hello: a stream sends the server's own.
func poll(o *options.ClientOptions) { o.SetServerMonitoringMode(options.ServerMonitoringModePoll) }

func replicaSet() (*mongotest.Deployment, error) {
	return mongotest.RunReplicaSet(3, mongotest.InMemory())
}

func standalone() (*mongotest.Deployment, error) {
	return mongotest.RunStandalone(mongotest.InMemory())
}

func sharded(mongos int) func() (*mongotest.Deployment, error) {
	return func() (*mongotest.Deployment, error) { return mongotest.RunSharded(3, mongos, mongotest.InMemory()) }
}

// inside is in for a deployment of any kind.
func inside(
	t *testing.T, run func() (*mongotest.Deployment, error), configure func(*options.ClientOptions), f func(w *world),
) {
	t.Helper()
	insideWith(t, run, func(o *options.ClientOptions) (*mongo.Client, error) {
		if configure != nil {
			configure(o)
		}
		return mongo.Connect(o)
	}, f)
}

// insideWith is inside for a client that connect makes.
func insideWith(
	t *testing.T, run func() (*mongotest.Deployment, error), connect func(*options.ClientOptions) (*mongo.Client, error), f func(w *world),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rs, err := run()
		if err != nil {
			t.Fatal(err)
		}
		w := &world{T: t, ctx: context.Background(), set: rs, heal: func() {}}
		o := options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()).SetMonitor(w.monitor()).
			SetPoolMonitor(&event.PoolMonitor{Event: w.pooled})
		if w.client, err = connect(o); err != nil {
			t.Fatal(err)
		}
		w.coll = w.client.Database("test").Collection("c")
		defer func() {
			w.heal()
			if err := w.client.Disconnect(w.ctx); err != nil {
				t.Error(err)
			}
			if err := rs.Close(); err != nil {
				t.Error(err)
			}
			if t.Failed() {
				t.Log(rs.Dump())
			}
		}()
		f(w)
	})
}

func (w *world) monitor() *event.CommandMonitor {
	end := func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ends++
	}
	return &event.CommandMonitor{
		Started: func(_ context.Context, ev *event.CommandStartedEvent) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, ev)
		},
		Succeeded: func(context.Context, *event.CommandSucceededEvent) { end() },
		Failed: func(context.Context, *event.CommandFailedEvent) {
			end()
			w.mu.Lock()
			defer w.mu.Unlock()
			w.failed++
		},
	}
}

func (w *world) pooled(ev *event.PoolEvent) {
	w.mu.Lock()
	w.pool = append(w.pool, ev)
	f := w.onPool
	w.mu.Unlock()
	if f != nil {
		f(ev)
	}
}

// started returns the CommandStarted events of commands with that name, or all if name is empty.
func (w *world) started(name string) []*event.CommandStartedEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*event.CommandStartedEvent
	for _, ev := range w.events {
		if name == "" || ev.CommandName == name {
			out = append(out, ev)
		}
	}
	return out
}

func (w *world) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events, w.ends, w.failed, w.pool = nil, 0, 0, nil
}

// script applies the n-th fault to the n-th message of a command. Later messages have no fault.
func (w *world) script(command string, faults ...mongotest.Fault) {
	var seen atomic.Int64
	w.heal()
	w.heal = w.set.Use(command, mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
		n := int(seen.Add(1))
		if n > len(faults) {
			return mongotest.Fault{}
		}
		return faults[n-1]
	}))
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// pass advances the fake clock by d.
func (w *world) pass(d time.Duration) { <-time.After(d) }

// applied returns the number of statements of a command in the journal that changed data and were not rolled back.
func (w *world) applied(command string) int {
	n := 0
	for _, j := range w.set.Journal() {
		if j.Command == command && j.Applied && !j.RolledBack {
			n++
		}
	}
	return n
}

func refuse(code int32, labels ...string) mongotest.Fault {
	return mongotest.Fault{Error: &mongotest.CommandError{Code: code, Message: "scripted", Labels: labels}}
}

var (
	loseRequest = mongotest.Fault{LoseRequest: true}
	loseReply   = mongotest.Fault{LoseReply: true}
)
