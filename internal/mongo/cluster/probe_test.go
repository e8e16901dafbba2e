package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// handshakes returns the number of handshakes with a peer.
func (p *peer) handshakes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, q := range p.asked {
		if q.handshake {
			n++
		}
	}
	return n
}

// withoutPrimary starts a cluster on a set of two secondaries.
func withoutPrimary(t *testing.T, edit func(*Config)) (c *Cluster, a, b *peer) {
	t.Helper()
	a, b = &peer{hello: member(false, addrA, addrB)}, &peer{hello: member(false, addrA, addrB)}
	c = start(t, network{addrA: a, addrB: b}, edit)
	synctest.Wait()
	return c, a, b
}

func TestASelectionWithoutAPrimaryProbesEachMemberEvery250Milliseconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, a, b := withoutPrimary(t, func(cfg *Config) { cfg.ServerSelectionTimeout = 1900 * time.Millisecond })
		for range 20 { // together they probe no more than one
			time.AfterFunc(0, func() { _, _ = c.Select(t.Context(), write) })
			sleep(t.Context(), time.Millisecond, nil)
		}
		pass(t, 5*time.Second)
		for name, p := range map[string]*peer{"a": a, "b": b} {
			if got := p.handshakes(); got != 1+8 {
				t.Errorf("%s got %d handshakes, want that of its monitor and 8", name, got)
			}
			p.set(func(p *peer) {
				if p.open != 1 {
					t.Errorf("%s has %d open connections", name, p.open)
				}
			})
		}
	})
}

func TestAProbeFindsThePrimary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, b := withoutPrimary(t, nil)
		time.AfterFunc(200*time.Millisecond, func() {
			b.set(func(p *peer) { p.hello = elected(true, 1, addrA, addrB) })
		})
		began := time.Now()
		if s := selectedNow(t, c); s.Address() != addrB || time.Since(began) != probeInterval {
			t.Errorf("%s was selected after %v", s.Address(), time.Since(began))
		}
	})
}

func TestNoProbe(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*Cluster, *peer)
		want    *topology.Selection
	}{
		"of a member whose monitor streams": {func(c *Cluster, _ *peer) { c.servers[addrB].streaming.Store(true) }, write},
		"of a member whose pool is paused":  {func(c *Cluster, _ *peer) { c.servers[addrB].pool.clear(errDown, false).run() }, write},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster, _, b := withoutPrimary(t, func(cfg *Config) { cfg.ServerSelectionTimeout = 400 * time.Millisecond })
				before := b.handshakes()
				c.prepare(cluster, b)
				_, _ = cluster.Select(t.Context(), c.want)
				if got := b.handshakes() - before; got != 0 {
					t.Errorf("%d handshakes", got)
				}
			})
		})
	}
}

// Elections are a matter of replica sets.
func TestAStandaloneIsNotProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, func(cfg *Config) { cfg.ServerSelectionTimeout = 400 * time.Millisecond })
		s := selected(t, c)
		conn := checkOut(t, s)
		c.Answered(s, conn, 10107, "not primary", nil)
		s.CheckIn(conn)
		before := p.handshakes()
		_, _ = c.Select(t.Context(), write)
		if got := p.handshakes() - before; got != 0 {
			t.Errorf("%d handshakes", got)
		}
	})
}

// The handshake of a probe is under way when the pool is cleared: its hello must not make the server selectable.
func TestAProbeThatBeganBeforeThePoolWasClearedIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, b := withoutPrimary(t, func(cfg *Config) { cfg.ServerSelectionTimeout = 200 * time.Millisecond })
		b.set(func(p *peer) {
			p.hello = elected(true, 1, addrA, addrB)
			p.script = func(*question) bool { return !sleep(t.Context(), 100*time.Millisecond, nil) }
		})
		selecting := async(func() error { _, err := c.Select(t.Context(), write); return err })
		pass(t, 50*time.Millisecond)
		c.checkFailed(c.servers[addrB], errDown)
		pass(t, 100*time.Millisecond)
		if kindOf(c, addrB) != topology.Unknown {
			t.Errorf("b is %v", kindOf(c, addrB))
		}
		pass(t, 100*time.Millisecond)
		if settled(t, "the selection", selecting) == nil {
			t.Error("a server was selected")
		}
	})
}
