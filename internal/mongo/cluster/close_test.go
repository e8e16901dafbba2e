package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// set3 is a replica set of three members.
func set3() network {
	hosts := []string{addrA, addrB, addrC}
	return network{
		addrA: {hello: member(true, hosts...)}, addrB: {hello: member(false, hosts...)}, addrC: {hello: member(false, hosts...)},
	}
}

func TestNewRefusesAnInvalidConfiguration(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("a cluster without seeds is started")
	}
}

// The synctest bubble fails if a goroutine is left.
func TestCloseEndsAllGoroutinesAndConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, set3(), nil)
		s := selected(t, c)
		synctest.Wait()
		for _, server := range c.all() {
			if err := operation(t.Context(), server); err != nil {
				t.Error(err)
			}
		}
		used := checkOut(t, s)
		c.Close()
		c.Close()
		if !c.Closed() || !c.Busy() {
			t.Errorf("closed %v, busy %v", c.Closed(), c.Busy())
		}
		if err := ping(t.Context(), used); err != nil {
			t.Errorf("an operation in flight: %v", err)
		}
		s.CheckIn(used)
		if _, err := s.CheckOut(t.Context(), nil); !errors.Is(err, ErrPoolClosed) {
			t.Errorf("a checkout: %v", err)
		}
		counters(t, s, 0, 0, 0)
	})
}

func TestCloseEndsWaitingAndPendingCheckouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, func(cfg *Config) { cfg.MaxPoolSize = 1 })
		s := selected(t, c)
		p.hang()
		connecting := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "connecting", connecting)
		waiting := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "waiting", waiting)
		c.Close()
		for _, result := range []<-chan error{connecting, waiting} {
			if err := settled(t, "the checkout", result); !errors.Is(err, ErrPoolClosed) {
				t.Errorf("error %v", err)
			}
		}
		counters(t, s, 0, 0, 0)
	})
}

func TestCloseIsSafeWhileOperationsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 10 {
			c := start(t, set3(), func(cfg *Config) { cfg.MaxPoolSize = 3 })
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() { runUntilClosed(t, c) })
			}
			all.Go(func() {
				for range 3 {
					for _, s := range c.all() {
						c.report(s, topology.ErrorInfo{Err: errDown, Kind: topology.NetworkError, HandshakeDone: true, Generation: 99})
					}
					sleep(t.Context(), MinHeartbeatInterval, nil)
				}
				c.Close()
			})
			all.Wait()
			for _, s := range c.all() {
				counters(t, s, 0, 0, 0)
			}
		}
	})
}

func runUntilClosed(t *testing.T, c *Cluster) {
	for !c.Closed() {
		target, err := c.Select(t.Context(), write)
		if err != nil {
			if !errors.Is(err, ErrPoolClosed) {
				t.Error(err)
			}
			continue
		}
		var cleared *PoolClearedError
		if err := operation(t.Context(), target.Server); err != nil && !errors.Is(err, ErrPoolClosed) && !errors.As(err, &cleared) {
			t.Error(err)
		}
		sleep(t.Context(), 7*time.Millisecond, nil)
	}
}

func TestDrainWaitsForOperationsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, network{addrA: {hello: standalone()}}, nil)
		s := selected(t, c)
		conn := checkOut(t, s)
		drained := async(func() bool { c.Drain(t.Context()); return true })
		pass(t, time.Second)
		unsettled(t, "Drain", drained)
		if err := ping(t.Context(), conn); err != nil {
			t.Error(err)
		}
		s.CheckIn(conn)
		pass(t, drainPoll)
		settled(t, "Drain", drained)
		counters(t, s, 1, 1, 0)
	})
}

func TestDrainInterruptsOperationsWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := network{addrA: {hello: member(true, addrA, addrB)}, addrB: {hello: member(false, addrA, addrB)}}
		c := start(t, set, nil)
		a := selected(t, c)
		synctest.Wait()
		b := c.servers[addrB]
		idle, inUse, onRemoved := checkOut(t, a), checkOut(t, a), checkOut(t, b)
		spare := checkOut(t, a)
		a.CheckIn(idle)
		a.CheckIn(spare)
		set[addrA].set(func(p *peer) { p.hello = member(true, addrA) })
		pass(t, c.cfg.HeartbeatInterval) // b is removed now
		set[addrA].hang()
		set[addrB].hang()
		var running []<-chan error
		for conn, s := range map[*Conn]*Server{inUse: a, onRemoved: b} {
			running = append(running, async(func() error { defer s.CheckIn(conn); return ping(t.Context(), conn) }))
		}
		spare, idle = checkOut(t, a), checkOut(t, a)
		running = append(running, async(func() error { return operation(t.Context(), a) })) // connects
		unsettled(t, "connecting", running[2])
		a.CheckIn(spare) // the operation gets it, and its new connection stays pending
		a.CheckIn(idle)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		c.Drain(ctx)
		if time.Since(began) != time.Second {
			t.Errorf("Drain took %v", time.Since(began))
		}
		for i, result := range running {
			if err := settled(t, "an operation", result); err == nil {
				t.Errorf("operation %d was not interrupted", i)
			}
		}
		if c.Busy() || idle.interruption() != nil {
			t.Errorf("busy %v, an idle connection was interrupted %v", c.Busy(), idle.interruption())
		}
	})
}

func TestACheckoutEndsWhenItsServerLeavesTheTopology(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: mongos()}
		c := start(t, network{addrA: p, addrB: {hello: mongos()}}, func(cfg *Config) { cfg.MaxPoolSize = 1 })
		s := selected(t, c)
		p.set(func(p *peer) { p.dial = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() } })
		connecting := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "the operation that connects", connecting)
		waiting := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "the operation that waits", waiting)
		c.ReplaceSeeds([]string{addrB})
		if err := settled(t, "the operation that connects", connecting); !errors.Is(err, ErrPoolClosed) {
			t.Error(err)
		}
		if err := settled(t, "the operation that waits", waiting); !errors.Is(err, ErrPoolClosed) {
			t.Error(err)
		}
		counters(t, s, 0, 0, 0)
	})
}

// An operation that gets ErrPoolClosed asks whether the client is closed, and is retried if not.
func TestWhatDrainInterruptsFindsAClosedClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		s := bare(t, p, nil)
		found(t, s, standalone())
		p.hang()
		connecting := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "the operation", connecting)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		s.cluster.Drain(ended)
		if err := settled(t, "the operation", connecting); !errors.Is(err, ErrPoolClosed) || !s.cluster.Closed() {
			t.Errorf("closed: %v, %v", s.cluster.Closed(), err)
		}
		s.cluster.Close()
		counters(t, s, 0, 0, 0)
	})
}

// Connection Monitoring and Pooling: each connection that was created has one ConnectionClosed, before its socket is closed. The
// application may end its cursor later, or never.
func TestAPinnedConnectionThatCloseClosesHasItsEventOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := newListener()
		c, p := balanced(t, nil, bson.NewObjectID())
		open := 0 // connections when the event came
		c.pooled = poolMonitored(&event.PoolMonitor{Event: func(e *event.PoolEvent) {
			heard.monitor().Event(e)
			if e.Type == event.ConnectionClosed {
				synctest.Wait()
				p.set(func(p *peer) { open = p.open })
			}
		}}).Pool
		s := selected(t, c)
		pinned, used := checkOut(t, s), checkOut(t, s)
		pinned.PinnedTo(UseCursor)
		s.EndUse()
		closed := func() (reasons []string) {
			events, _ := heard.all()
			for _, e := range events {
				if e.Type == event.ConnectionClosed {
					reasons = append(reasons, fmt.Sprint(e.ConnectionID, " ", e.Reason))
				}
			}
			return reasons
		}
		c.Close()
		if got := closed(); !slices.Equal(got, []string{fmt.Sprint(pinned.id, " ", event.ReasonPoolClosed)}) || open != 2 {
			t.Errorf("Close closes %q, while %d connections are open", got, open)
		}
		synctest.Wait()
		if p.open != 1 {
			t.Errorf("%d connections are open after Close, want that of the operation in flight", p.open)
		}
		s.CheckIn(used)
		s.BeginUse()
		s.CheckIn(pinned)
		if got := closed(); len(got) != 2 {
			t.Errorf("after the check-in of both, these were closed: %q", got)
		}
		counters(t, s, 0, 0, 0)
		if n := len(s.pool.generations.services); n != 0 || c.Busy() {
			t.Errorf("%d services are remembered; busy: %v", n, c.Busy())
		}
	})
}
