package cluster

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/event"
)

func TestPoolReadyIsTheFirstEventAfterPoolCreated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 50 {
			heard := newListener()
			c := start(t, network{addrA: {hello: standalone()}}, func(cfg *Config) { cfg.PoolMonitor = heard.monitor() })
			s := selectedNow(t, c)
			if err := operation(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			c.Close()
			want := []string{
				event.ConnectionPoolCreated, event.ConnectionPoolReady,
				event.ConnectionCheckOutStarted, event.ConnectionCreated, event.ConnectionReady, event.ConnectionCheckedOut,
				event.ConnectionCheckedIn, event.ConnectionClosed, event.ConnectionPoolClosed,
			}
			if got := heard.types(); !slices.Equal(got, want) {
				t.Fatalf("events %v, want %v", got, want)
			}
		}
	})
}

func TestPoolReadyAndPoolClearedAlternate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := newListener()
		s := bare(t, &peer{hello: standalone()}, func(cfg *Config) { cfg.PoolMonitor = heard.monitor() })
		var both sync.WaitGroup
		for range 200 {
			both.Go(func() { found(t, s, standalone()) })
			both.Go(func() { s.pool.clear(errDown, false).run() })
		}
		both.Wait()
		for i, got := range heard.types(event.ConnectionPoolCreated) {
			if want := []string{event.ConnectionPoolReady, event.ConnectionPoolCleared}[i%2]; got != want {
				t.Fatalf("event %d is %s, want %s", i, got, want)
			}
		}
	})
}

func TestAListenerMayUseThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *Server
		var errs []error
		s = bare(t, &peer{hello: standalone()}, func(cfg *Config) {
			cfg.PoolMonitor = &event.PoolMonitor{Event: func(e *event.PoolEvent) {
				switch e.Type {
				case event.ConnectionPoolReady, event.ConnectionPoolCleared:
					errs = append(errs, operation(t.Context(), s))
				}
			}}
		})
		found(t, s, standalone())
		s.pool.clear(errDown, false).run()
		if len(errs) != 2 || errs[0] != nil || !errors.Is(errs[1], errDown) {
			t.Errorf("a listener's operations ended with %v", errs)
		}
	})
}

func TestAListenerThatPanicsDoesNotBlockWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, &peer{hello: standalone()}, func(cfg *Config) {
			cfg.MaxPoolSize = 1
			cfg.PoolMonitor = &event.PoolMonitor{Event: func(e *event.PoolEvent) {
				if e.Type == event.ConnectionPoolCleared {
					panic("a panic of the listener")
				}
			}}
		})
		found(t, s, standalone())
		held := checkOut(t, s)
		waiting := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "the wait", waiting)
		func() {
			defer func() { _ = recover() }()
			s.pool.clear(errDown, false).run()
		}()
		found(t, s, standalone())
		if err := settled(t, "the wait", waiting); !errors.Is(err, errDown) {
			t.Errorf("the waiter got %v", err)
		}
		s.CheckIn(held)
	})
}

// gate is a listener that blocks at one type of event until the channel is closed.
type gate struct {
	event  string
	opened chan struct{}
}

func newGate(event string) *gate { return &gate{event: event, opened: make(chan struct{})} }

func (g *gate) monitor() *event.PoolMonitor {
	return &event.PoolMonitor{Event: func(e *event.PoolEvent) {
		if e.Type == g.event {
			<-g.opened
		}
	}}
}

func TestAServerIsSelectableOnlyAfterPoolReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(event.ConnectionPoolReady)
		c := start(t, network{addrA: {hello: standalone()}}, func(cfg *Config) { cfg.PoolMonitor = g.monitor() })
		selecting := async(func() *Server { return selectedNow(t, c) })
		unsettled(t, "the selection", selecting)
		close(g.opened)
		settled(t, "the selection", selecting)
	})
}

// Connection Monitoring and Pooling, "Marking a Connection Pool as Ready": "it must be the case that no observer is able to observe
// actions of the background thread related to creating new connections before observing the PoolReadyEvent event."
func TestNoConnectionIsMadeForMinPoolSizeBeforePoolReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard, slow := newListener(), newGate(event.ConnectionPoolCleared)
		record, block := heard.monitor().Event, slow.monitor().Event
		s := bare(t, &peer{hello: standalone()}, func(cfg *Config) {
			cfg.MinPoolSize = 1
			cfg.PoolMonitor = &event.PoolMonitor{Event: func(e *event.PoolEvent) { record(e); block(e) }}
		})
		s.cluster.background.Go(func() { s.pool.maintain(s.cluster.backgroundCtx) })
		found(t, s, standalone())
		synctest.Wait()
		counters(t, s, 1, 1, 0)
		go s.pool.clear(errDown, false).run()
		synctest.Wait()
		found(t, s, standalone()) // its event waits for the listener
		pass(t, 3*maintenanceInterval)
		before := []string{
			event.ConnectionPoolCreated, event.ConnectionPoolReady, event.ConnectionCreated, event.ConnectionReady, event.ConnectionPoolCleared,
		}
		if got := heard.types(); !slices.Equal(got, before) {
			t.Errorf("events %v, want %v", got, before)
		}
		close(slow.opened)
		synctest.Wait()
		want := append(slices.Clone(before), event.ConnectionClosed, event.ConnectionPoolReady, event.ConnectionCreated, event.ConnectionReady)
		if got := heard.types(); !slices.Equal(got, want) {
			t.Errorf("events %v, want %v", got, want)
		}
		counters(t, s, 1, 1, 0)
	})
}

// The same if the pool was cleared while the listener had the event: then that of the next time counts.
func TestNoConnectionIsMadeForMinPoolSizeBeforeTheLastPoolReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard, atReady, atCleared := newListener(), newGate(event.ConnectionPoolReady), newGate(event.ConnectionPoolCleared)
		s := bare(t, &peer{hello: standalone()}, func(cfg *Config) {
			cfg.MinPoolSize = 1
			cfg.PoolMonitor = &event.PoolMonitor{Event: func(e *event.PoolEvent) {
				heard.monitor().Event(e)
				atReady.monitor().Event(e)
				atCleared.monitor().Event(e)
			}}
		})
		ready := async(func() bool { found(t, s, standalone()); return true })
		unsettled(t, "the event PoolReady", ready)
		s.cluster.background.Go(func() { s.pool.maintain(s.cluster.backgroundCtx) }) // not before: it would deliver the event itself
		s.pool.clear(errDown, false).run()
		found(t, s, standalone())
		close(atReady.opened)
		pass(t, 3*maintenanceInterval)
		before := []string{event.ConnectionPoolCreated, event.ConnectionPoolReady, event.ConnectionPoolCleared}
		if got := heard.types(); !slices.Equal(got, before) {
			t.Errorf("events %v, want %v", got, before)
		}
		close(atCleared.opened)
		settled(t, "the event PoolReady", ready)
		want := append(slices.Clone(before), event.ConnectionPoolReady, event.ConnectionCreated, event.ConnectionReady)
		if got := heard.types(); !slices.Equal(got, want) {
			t.Errorf("events %v, want %v", got, want)
		}
	})
}

func TestWaitersFailOnlyAfterPoolCleared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(event.ConnectionPoolCleared)
		s := bare(t, &peer{hello: standalone()}, func(cfg *Config) { cfg.MaxPoolSize, cfg.PoolMonitor = 1, g.monitor() })
		found(t, s, standalone())
		held := checkOut(t, s)
		waiting := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "the wait", waiting)
		clearing := async(func() bool { s.pool.clear(errDown, false).run(); return true })
		unsettled(t, "the wait", waiting)
		close(g.opened)
		settled(t, "the clearing", clearing)
		if err := settled(t, "the wait", waiting); !errors.Is(err, errDown) {
			t.Errorf("the waiter got %v", err)
		}
		s.CheckIn(held)
	})
}

func TestPermissionToConnectIsPassedOnOnlyAfterConnectionReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(event.ConnectionReady)
		p := &peer{hello: standalone()}
		s := bare(t, p, func(cfg *Config) { cfg.MaxConnecting, cfg.PoolMonitor = 1, g.monitor() })
		found(t, s, standalone())
		one := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "connecting", one)
		two := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "waiting", two)
		if p.dialed != 1 {
			t.Errorf("%d connections are dialed, want 1", p.dialed)
		}
		close(g.opened)
		for _, result := range []<-chan error{one, two} {
			if err := settled(t, "the operation", result); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestAConnectionThatIsReadyWhenItsPoolIsClearedIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(event.ConnectionReady)
		s := bare(t, &peer{hello: standalone()}, func(cfg *Config) { cfg.PoolMonitor = g.monitor() })
		found(t, s, standalone())
		connecting := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "connecting", connecting)
		s.pool.clear(errDown, true).run()
		close(g.opened)
		if err := settled(t, "connecting", connecting); !errors.Is(err, errDown) {
			t.Errorf("error %v", err)
		}
		counters(t, s, 0, 0, 0)
	})
}

func TestAConnectionIsClosedBeforeAnotherIsMadeInItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(event.ConnectionClosed)
		p := &peer{hello: standalone()}
		s := bare(t, p, func(cfg *Config) { cfg.MaxPoolSize, cfg.PoolMonitor = 1, g.monitor() })
		found(t, s, standalone())
		broken := checkOut(t, s)
		waiting := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "the wait", waiting)
		_ = broken.Broken(errDown)
		returning := async(func() bool { s.CheckIn(broken); return true })
		unsettled(t, "the wait", waiting)
		if p.dialed != 1 {
			t.Error("the pool has more connections than maxPoolSize")
		}
		close(g.opened)
		settled(t, "the return", returning)
		if err := settled(t, "the wait", waiting); err != nil {
			t.Error(err)
		}
	})
}

func TestEachPoolOfSeveralNewServersIsReportedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListener()
		silent := &peer{}
		silent.hang()
		start(t, network{addrA: silent, addrB: silent, addrC: silent}, func(cfg *Config) {
			cfg.Topology.Seeds = []string{addrA, addrB, addrC}
			cfg.PoolMonitor = l.monitor()
			cfg.ServerMonitor = &event.ServerMonitor{}
		})
		synctest.Wait()
		created := []string{event.ConnectionPoolCreated, event.ConnectionPoolCreated, event.ConnectionPoolCreated}
		if got := l.types(); !slices.Equal(got, created) {
			t.Errorf("the events are %v", got)
		}
	})
}
