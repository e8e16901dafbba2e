package mongo_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Disconnect interrupts the operations that are left when its context ends. One whose connection is being made has sent
// nothing, so it returns ErrClientDisconnected, as one that selects a server does.
func TestDisconnectWhileAConnectionIsMade(t *testing.T) {
	find := func(ctx context.Context, coll *mongo.Collection) error { return coll.FindOne(ctx, d{}).Err() }
	for _, c := range []struct {
		name          string
		deadline      time.Duration
		inTransaction bool
		do            func(ctx context.Context, coll *mongo.Collection) error
	}{
		{"a read without a deadline", 0, false, find},
		{"a read with a deadline", time.Minute, false, find},
		{"a read in a transaction", 0, true, find},
		{"a commit", 0, true, func(ctx context.Context, _ *mongo.Collection) error {
			return mongo.SessionFromContext(ctx).CommitTransaction(ctx)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				second, err := mongo.Connect(options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer()).SetMaxConnIdleTime(time.Millisecond))
				w.must(err)
				coll, ctx := second.Database("test").Collection("c"), w.ctx
				if c.inTransaction {
					s, err := second.StartSession()
					w.must(err)
					w.must(s.StartTransaction())
					ctx = mongo.NewSessionContext(ctx, s)
					w.must(insertOne(ctx, coll))
				}
				w.pass(time.Second) // a connection would be too old now
				w.greet(func(int) mongotest.Fault { return mongotest.Fault{LoseRequest: true, Silent: true} })
				if c.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.deadline)
					defer cancel()
				}
				result := make(chan error, 1)
				go func() { result <- c.do(ctx, coll) }()
				w.pass(time.Second)
				ended, end := context.WithCancel(w.ctx)
				end()
				began := time.Now()
				w.must(second.Disconnect(ended))
				err = <-result
				if took := time.Since(began); took > 2*time.Second || err != mongo.ErrClientDisconnected { //nolint:errorlint // programs compare it so
					t.Errorf("after %v: %v", took, err)
				}
			})
		})
	}
}

// The listener of each event ends the client while an operation runs, with a context that does not end. The operation and
// the connections that wait for the listener must not hold it up for ever.
func TestAListenerDisconnectsTheClient(t *testing.T) {
	pool := func(kind string) func(*options.ClientOptions, func()) {
		return func(o *options.ClientOptions, f func()) {
			o.SetPoolMonitor(&event.PoolMonitor{Event: func(e *event.PoolEvent) {
				if e.Type == kind {
					f()
				}
			}})
		}
	}
	for name, listen := range map[string]func(*options.ClientOptions, func()){
		"ConnectionPoolReady":       pool(event.ConnectionPoolReady),
		"ConnectionCheckOutStarted": pool(event.ConnectionCheckOutStarted),
		"ConnectionCreated":         pool(event.ConnectionCreated),
		"ConnectionReady":           pool(event.ConnectionReady),
		"ConnectionCheckedOut":      pool(event.ConnectionCheckedOut),
		"ConnectionCheckedIn":       pool(event.ConnectionCheckedIn),
		"CommandStarted": func(o *options.ClientOptions, f func()) {
			o.SetMonitor(&event.CommandMonitor{Started: func(context.Context, *event.CommandStartedEvent) { f() }})
		},
		"CommandSucceeded": func(o *options.ClientOptions, f func()) {
			o.SetMonitor(&event.CommandMonitor{Succeeded: func(context.Context, *event.CommandSucceededEvent) { f() }})
		},
		"ServerHeartbeatStarted": func(o *options.ClientOptions, f func()) {
			o.SetServerMonitor(&event.ServerMonitor{ServerHeartbeatStarted: func(*event.ServerHeartbeatStartedEvent) { f() }})
		},
		"ServerDescriptionChanged": func(o *options.ClientOptions, f func()) {
			o.SetServerMonitor(&event.ServerMonitor{ServerDescriptionChanged: func(*event.ServerDescriptionChangedEvent) { f() }})
		},
	} {
		t.Run(name, func(t *testing.T) { disconnectIn(t, listen) })
	}
}

func disconnectIn(t *testing.T, listen func(*options.ClientOptions, func())) {
	in(t, nil, func(w *world) {
		var second *mongo.Client
		connected, ended := make(chan struct{}), make(chan time.Duration, 1)
		var called atomic.Bool
		o := options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer())
		listen(o, func() {
			select {
			case <-connected:
			default: // an event of Connect
				return
			}
			if called.Swap(true) {
				return
			}
			began := time.Now()
			if err := second.Disconnect(context.Background()); err != nil {
				t.Error(err)
			}
			ended <- time.Since(began)
		})
		var err error
		second, err = mongo.Connect(o)
		w.must(err)
		close(connected)
		_ = second.Database("test").Collection("c").FindOne(w.ctx, d{}).Err()
		w.set.Kill((w.set.Primary() + 1) % 3) // the servers may all be known already when Connect returns
		select {
		case took := <-ended:
			if took > 3*time.Second {
				t.Errorf("Disconnect took %v", took)
			}
		case <-time.After(time.Minute):
			t.Fatal("Disconnect did not return")
		}
		if err := second.Disconnect(w.ctx); err != mongo.ErrClientDisconnected { //nolint:errorlint // programs compare it so
			t.Errorf("the second Disconnect returned %v", err)
		}
	})
}

// The end of the context at the same moment hides no sentinel, which programs compare by ==.
func TestDisconnectAndTheEndOfTheContextAtOnce(t *testing.T) {
	in(t, nil, func(w *world) {
		ctx, cancel := context.WithCancel(w.ctx)
		second, err := mongo.Connect(options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer()).SetMaxConnIdleTime(time.Millisecond).
			SetPoolMonitor(&event.PoolMonitor{Event: func(e *event.PoolEvent) {
				if e.Type == event.ConnectionCheckOutFailed && e.Reason == event.ReasonPoolClosed {
					cancel()
				}
			}}))
		w.must(err)
		coll := second.Database("test").Collection("c")
		w.must(insertOne(w.ctx, coll))
		w.pass(time.Second) // the connection is too old then, and another one does not come
		w.greet(func(int) mongotest.Fault { return mongotest.Fault{LoseRequest: true, Silent: true} })
		result := make(chan error, 1)
		go func() { result <- coll.FindOne(ctx, d{}).Err() }()
		w.pass(time.Second)
		ended, end := context.WithCancel(w.ctx)
		end()
		w.must(second.Disconnect(ended))
		if err := <-result; err != mongo.ErrClientDisconnected { //nolint:errorlint // programs compare it so
			t.Errorf("%T: %v", err, err)
		}
	})
}
