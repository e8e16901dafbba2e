package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
)

// burst uses n connections at once.
func burst(t *testing.T, s *Server, n int) {
	t.Helper()
	var conns []*Conn
	for range n {
		conns = append(conns, checkOut(t, s))
	}
	for _, c := range conns {
		s.CheckIn(c)
	}
}

func TestAPoolThatNobodyUsesShrinks(t *testing.T) {
	for _, c := range []struct {
		name  string
		least uint64
	}{
		{"to nothing", 0},
		{"to minPoolSize", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heard := newListener()
				cluster := start(t, network{addrA: {hello: standalone()}}, func(cfg *Config) {
					cfg.MaxConnIdleTime, cfg.MinPoolSize, cfg.PoolMonitor = 30*time.Second, c.least, heard.monitor()
				})
				s := selected(t, cluster)
				burst(t, s, 63)
				counters(t, s, 63, 63, 0)
				pass(t, 30*time.Second+maintenanceInterval)
				counters(t, s, c.least, int(c.least), 0)
				idle := 0
				events, _ := heard.all()
				for _, e := range events {
					if e.Type == event.ConnectionClosed && e.Reason == event.ReasonIdle {
						idle++
					}
				}
				if idle != 63 {
					t.Errorf("%d connections were closed because they were idle", idle)
				}
			})
		})
	}
}

// The maintenance is not a busy loop.
func TestAMaxIdleTimeOfANanosecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, network{addrA: {hello: standalone()}}, func(cfg *Config) { cfg.MaxConnIdleTime = 1 })
		s := selected(t, c)
		for range 3 {
			if err := operation(t.Context(), s); err != nil {
				t.Error(err)
			}
			pass(t, time.Second)
			counters(t, s, 0, 0, 0)
		}
	})
}

func TestAConnectionInUseIsNotTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, network{addrA: {hello: standalone()}}, func(cfg *Config) { cfg.MaxConnIdleTime = time.Second })
		s := selected(t, c)
		held := checkOut(t, s)
		pass(t, time.Minute)
		counters(t, s, 1, 0, 0)
		s.CheckIn(held)
		pass(t, time.Second)
		counters(t, s, 1, 1, 0)
		pass(t, time.Second)
		counters(t, s, 0, 0, 0)
	})
}

func TestAPoolIsFilledUpToMinPoolSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, func(cfg *Config) { cfg.MinPoolSize, cfg.MaxPoolSize = 4, 6 })
		s := selected(t, c)
		synctest.Wait()
		counters(t, s, 4, 4, 0)
		broken := checkOut(t, s)
		_ = broken.Broken(errDown)
		s.CheckIn(broken)
		synctest.Wait()
		counters(t, s, 4, 4, 0)
		s.pool.clear(errDown, false).run()
		synctest.Wait()
		counters(t, s, 0, 0, 0)
		pass(t, c.cfg.HeartbeatInterval)
		counters(t, s, 4, 4, 0)
	})
}

func TestAPoolIsFilledWithinItsLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		p := &peer{hello: standalone()}
		s := bare(t, p, func(cfg *Config) { cfg.MinPoolSize, cfg.MaxPoolSize = 5, 3 })
		p.set(func(p *peer) { p.dial = func(context.Context) error { <-proceed; return nil } })
		s.cluster.background.Go(func() { s.pool.maintain(s.cluster.backgroundCtx) })
		pass(t, time.Minute)
		counters(t, s, 0, 0, 0) // the pool is paused
		found(t, s, standalone())
		synctest.Wait()
		counters(t, s, 2, 0, 2) // maxConnecting
		close(proceed)
		pass(t, time.Minute)
		counters(t, s, 3, 3, 0)
	})
}

func TestAPoolIsNotFilledInALoopWhileConnectionsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		p := &peer{hello: standalone()}
		s := bare(t, p, func(cfg *Config) { cfg.MinPoolSize = 1 })
		p.set(func(p *peer) { p.dial = func(context.Context) error { dials++; return errDown } })
		s.cluster.background.Go(func() { s.pool.maintain(s.cluster.backgroundCtx) })
		synctest.Wait() // else the first round may find the pool ready, and a request for another one
		found(t, s, standalone())
		pass(t, time.Minute)
		if dials != 1+int(time.Minute/maintenanceInterval) {
			t.Errorf("%d dials in a minute", dials)
		}
		counters(t, s, 0, 0, 0)
	})
}

func TestWithoutItsOptionsNoPoolIsMaintained(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want bool
	}{
		{Config{}, false},
		{Config{MaxConnIdleTime: 1}, true},
		{Config{MinPoolSize: 1}, true},
	} {
		if c.cfg.maintained() != c.want {
			t.Errorf("%+v is maintained: %v", c.cfg, !c.want)
		}
	}
}

// Checkouts rely on the connections that are being made for minPoolSize, but not on one that has failed.
func TestNoCheckoutWaitsForAConnectionOfTheMaintenanceThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proceed, dials := make(chan struct{}), 0
		p := &peer{hello: standalone()}
		s := bare(t, p, func(cfg *Config) { cfg.MinPoolSize = 1 })
		p.set(func(p *peer) {
			p.dial = func(context.Context) error {
				if dials++; dials == 1 {
					return errDown
				}
				<-proceed
				return nil
			}
		})
		s.cluster.background.Go(func() { s.pool.maintain(s.cluster.backgroundCtx) })
		found(t, s, standalone())
		pass(t, maintenanceInterval) // the first connection has failed, the second one is being made
		counters(t, s, 1, 0, 1)
		one := async(func() *Conn { return checkOut(t, s) })
		unsettled(t, "the first checkout", one)
		two := async(func() *Conn { return checkOut(t, s) })
		unsettled(t, "the second checkout", two)
		counters(t, s, 2, 0, 2)
		close(proceed)
		s.CheckIn(settled(t, "the first checkout", one))
		s.CheckIn(settled(t, "the second checkout", two))
	})
}
