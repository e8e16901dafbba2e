package mongo_test

import (
	"context"
	"flag"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// connects is how often TestConnectDoesNotWaitForListeners connects with each deployment. The figure is over 3,000.
var connects = flag.Int("connects", 20, "how many times a test connects")

// everyServerEvent is a ServerMonitor that calls f for each event.
func everyServerEvent(f func(name string)) *event.ServerMonitor {
	return &event.ServerMonitor{
		TopologyOpening:            func(*event.TopologyOpeningEvent) { f("TopologyOpening") },
		TopologyDescriptionChanged: func(*event.TopologyDescriptionChangedEvent) { f("TopologyDescriptionChanged") },
		TopologyClosed:             func(*event.TopologyClosedEvent) { f("TopologyClosed") },
		ServerOpening:              func(*event.ServerOpeningEvent) { f("ServerOpening") },
		ServerDescriptionChanged:   func(*event.ServerDescriptionChangedEvent) { f("ServerDescriptionChanged") },
		ServerClosed:               func(*event.ServerClosedEvent) { f("ServerClosed") },
		ServerHeartbeatStarted:     func(*event.ServerHeartbeatStartedEvent) { f("ServerHeartbeatStarted") },
		ServerHeartbeatSucceeded:   func(*event.ServerHeartbeatSucceededEvent) { f("ServerHeartbeatSucceeded") },
		ServerHeartbeatFailed:      func(*event.ServerHeartbeatFailedEvent) { f("ServerHeartbeatFailed") },
	}
}

// Each listener of servers, topology and heartbeats, and the log of the topology, needs a lock that the caller of Connect holds. The
// first listener is slow, so that the monitors have events before Connect could return.
func TestConnectDoesNotWaitForListeners(t *testing.T) {
	hangs := 0
	for name, run := range map[string]func() (*mongotest.Deployment, error){"a replica set": replicaSet, "a load balancer": func() (*mongotest.Deployment, error) {
		return mongotest.RunSharded(1, 1, mongotest.InMemory(), mongotest.LoadBalancer())
	}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set, err := run()
				if err != nil {
					t.Fatal(err)
				}
				defer set.Close()
				for range *connects {
					hangs += connectUnderALock(t, set)
				}
			})
		})
	}
	if *connects >= 3000 {
		fmt.Printf("figure connect-listener-hangs %d\n", hangs)
	}
}

// connectUnderALock returns 1 if Connect has waited, else 0.
func connectUnderALock(t *testing.T, set *mongotest.Deployment) (hangs int) {
	t.Helper()
	lock := make(chan struct{}, 1)
	var heard atomic.Int64
	var hung atomic.Bool
	needsTheLock := func(name string) {
		heard.Add(1)
		if hung.Load() {
			return
		}
		if name == "TopologyOpening" {
			<-time.After(20 * time.Millisecond)
		}
		select {
		case lock <- struct{}{}:
			<-lock
		case <-time.After(time.Minute):
			hung.Store(true)
			t.Errorf("the listener %s waits for the caller of Connect", name)
		}
	}
	o := options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).SetServerMonitor(everyServerEvent(needsTheLock)).
		SetLoggerOptions(options.Logger().SetSink(sinkFunc(needsTheLock)).SetComponentLevel(options.LogComponentTopology, options.LogLevelDebug))
	lock <- struct{}{}
	began := time.Now()
	client, err := mongo.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 0 {
		hangs = 1
		t.Fatalf("Connect took %v", took)
	}
	<-time.After(10 * time.Millisecond)
	<-lock
	if err := client.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if err := client.Disconnect(t.Context()); err != nil {
		t.Error(err)
	}
	if heard.Load() < 10 {
		t.Errorf("only %d listeners were called", heard.Load())
	}
	return hangs
}

// sinkFunc is a log sink.
type sinkFunc func(message string)

func (f sinkFunc) Info(_ int, message string, _ ...any)    { f(message) }
func (f sinkFunc) Error(_ error, message string, _ ...any) { f(message) }

// The monitors start after the listeners were told of the opening of their servers.
func TestTheEventsOfAServerBeginWithItsOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, err := replicaSet()
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		var opened, early atomic.Int64
		m := everyServerEvent(func(name string) {
			switch {
			case name == "TopologyOpening":
				<-time.After(time.Second)
			case name == "ServerOpening":
				opened.Add(1)
			case opened.Load() == 0 && name != "TopologyDescriptionChanged":
				early.Add(1)
			}
		})
		began := time.Now()
		client, err := mongo.Connect(options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).SetServerMonitor(m))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Disconnect(context.Background())
		if err := client.Ping(t.Context(), nil); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < time.Second {
			t.Errorf("a server was checked %v after Connect, before the listeners knew of it", took)
		}
		if opened.Load() != 3 || early.Load() != 0 {
			t.Errorf("%d servers opened, %d events came before", opened.Load(), early.Load())
		}
	})
}

// A listener that does not return, of each event that Disconnect causes, holds Disconnect up no longer than its context. What the
// listener blocks ends when it returns.
func TestDisconnectDoesNotOverrunItsContext(t *testing.T) {
	for _, name := range []string{
		event.ConnectionClosed, event.ConnectionPoolClosed, event.ConnectionCheckedOut, "CommandStarted", "CommandSucceeded",
		"ServerClosed", "TopologyDescriptionChanged", "TopologyClosed", "ServerHeartbeatFailed",
	} {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				var disconnecting, blocked atomic.Bool
				back := make(chan struct{})
				block := func(what string) {
					if what == name && disconnecting.Load() && !blocked.Swap(true) {
						<-back
					}
				}
				client, err := mongo.Connect(options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer()).
					SetServerMonitor(everyServerEvent(block)).
					SetPoolMonitor(&event.PoolMonitor{Event: func(e *event.PoolEvent) { block(e.Type) }}).
					SetMonitor(&event.CommandMonitor{
						Started:   func(context.Context, *event.CommandStartedEvent) { block("CommandStarted") },
						Succeeded: func(context.Context, *event.CommandSucceededEvent) { block("CommandSucceeded") },
					}))
				w.must(err)
				w.must(client.Ping(w.ctx, nil))
				disconnecting.Store(true)
				ctx, cancel := context.WithTimeout(w.ctx, 300*time.Millisecond)
				defer cancel()
				began := time.Now()
				w.must(client.Disconnect(ctx))
				if took := time.Since(began); took > 350*time.Millisecond {
					t.Errorf("Disconnect took %v", took)
				}
				if !blocked.Load() {
					t.Error("the listener was not called")
				}
				close(back)
				w.pass(2 * time.Second)
			})
		})
	}
}
