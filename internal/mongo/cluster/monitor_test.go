package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// wantHellos fails unless the peer got this number of hellos.
func (p *peer) wantHellos(t *testing.T, want int) {
	t.Helper()
	synctest.Wait()
	if got := p.hellos(); got != want {
		t.Errorf("%d hellos, want %d", got, want)
	}
}

func TestAMonitorSendsHelloAtEveryHeartbeatOnOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		start(t, network{addrA: p}, func(cfg *Config) { cfg.HeartbeatInterval = 3 * time.Second })
		for i := range 5 {
			p.wantHellos(t, i+1)
			pass(t, 3*time.Second-1)
			p.wantHellos(t, i+1)
			pass(t, 1)
		}
		if p.dialed != 1 {
			t.Errorf("%d connections were made, want 1", p.dialed)
		}
	})
}

func TestAMonitorChecksAtMostEvery500Milliseconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, nil)
		for range 100 {
			pass(t, 50*time.Millisecond)
			c.RequestChecks()
		}
		pass(t, 0)
		p.wantHellos(t, 1+int(5*time.Second/MinHeartbeatInterval))
	})
}

func TestACheckAnswersTheRequestsBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		s := bare(t, p, nil)
		s.requestCheck()
		ctx, stop := context.WithCancel(t.Context())
		s.cluster.background.Go(func() { (&monitor{server: s}).run(ctx) })
		pass(t, 9*time.Second)
		p.wantHellos(t, 1)
		stop()
	})
}

func TestARequestDuringACheckIsAnsweredByTheNextCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		p := &peer{hello: standalone(), script: func(*question) bool { <-answer; return false }}
		c := start(t, network{addrA: p}, nil)
		synctest.Wait()
		c.RequestChecks()
		close(answer)
		pass(t, MinHeartbeatInterval)
		p.wantHellos(t, 2)
		pass(t, 9*time.Second)
		p.wantHellos(t, 2)
	})
}

func TestAKnownServerIsCheckedAgainImmediatelyAfterANetworkError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := newListener()
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, func(cfg *Config) { cfg.PoolMonitor = heard.monitor() })
		synctest.Wait()
		p.set(func(p *peer) { p.conns[0].CloseWrite() })
		pass(t, c.cfg.HeartbeatInterval)
		want := []string{event.ConnectionPoolReady, event.ConnectionPoolCleared, event.ConnectionPoolReady}
		if got := heard.types(event.ConnectionPoolCreated); !slices.Equal(got, want) {
			t.Errorf("events %v, want %v", got, want)
		}
		if kindOf(c, addrA) != topology.Standalone || p.dialed != 2 {
			t.Errorf("the server is %v after %d connections", kindOf(c, addrA), p.dialed)
		}
	})
}

func TestAnUnknownServerIsCheckedAgainAtItsHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dials atomic.Int64
		p := &peer{dial: func(context.Context) error { dials.Add(1); return syscall.ECONNREFUSED }}
		c := start(t, network{addrA: p}, nil)
		pass(t, 9*time.Second)
		if dials.Load() != 1 || !errors.Is(c.Snapshot().Description.Servers[0].Error, syscall.ECONNREFUSED) {
			t.Errorf("%d dials, %v", dials.Load(), c.Snapshot().Description.Servers[0].Error)
		}
		pass(t, time.Second)
		if dials.Load() != 2 {
			t.Errorf("%d dials", dials.Load())
		}
	})
}

func TestAnErrorReplyToHelloMakesTheServerUnknownWithoutASecondCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, nil)
		s := selected(t, c)
		p.set(func(p *peer) { p.script = refusing(1, "no") })
		pass(t, c.cfg.HeartbeatInterval)
		p.wantHellos(t, 2)
		if kindOf(c, addrA) != topology.Unknown || s.pool.state != paused {
			t.Errorf("the server is %v, its pool in state %v", kindOf(c, addrA), s.pool.state)
		}
	})
}

func TestTheAverageRoundTripTimeStartsAgainAfterUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var delay atomic.Int64
		p := &peer{hello: standalone()}
		p.script = func(*question) bool {
			sleep(context.Background(), time.Duration(delay.Load()), nil)
			return false
		}
		delay.Store(int64(100 * time.Millisecond))
		c := start(t, network{addrA: p}, nil)
		pass(t, time.Second)
		s := selected(t, c)
		want := func(rtt time.Duration) {
			t.Helper()
			if d := c.Snapshot().Description.Servers[0]; d.RTT != rtt || !d.HasRTT {
				t.Errorf("the average is %v, want %v", d.RTT, rtt)
			}
		}
		want(100 * time.Millisecond)
		delay.Store(int64(200 * time.Millisecond))
		pass(t, 11*time.Second)
		want(120 * time.Millisecond)
		conn := checkOut(t, s)
		want(120 * time.Millisecond) // the round trip time of an application's handshake does not count
		c.Answered(s, conn, 10107, "not primary", nil)
		s.CheckIn(conn)
		selected(t, c)
		want(200 * time.Millisecond)
	})
}

func TestCloseCancelsARunningCheck(t *testing.T) {
	for name, hang := range map[string]func(*peer){
		"in the hello": func(p *peer) { p.script = func(*question) bool { return true } },
		"while dialling": func(p *peer) {
			p.dial = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{}
				hang(p)
				c := start(t, network{addrA: p}, nil)
				pass(t, time.Second)
				before := c.Snapshot()
				settled(t, "Close", async(func() bool { c.Close(); return true }))
				if c.Snapshot() != before {
					t.Error("a cancelled check changed the topology")
				}
			})
		})
	}
}

// The check's connection is probably broken too: waiting for its timeout would keep the server Unknown for long.
func TestANetworkErrorOfAnOperationCancelsARunningCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, nil)
		s := selected(t, c)
		conn := checkOut(t, s)
		p.hang()
		pass(t, c.cfg.HeartbeatInterval+time.Second) // a check hangs now, for thirty seconds
		p.set(func(p *peer) { p.script = nil })
		lost(c, s, conn)
		began := time.Now()
		selected(t, c)
		if took := time.Since(began); took != 0 {
			t.Errorf("the server was selectable again after %v", took)
		}
	})
}

func TestATimeoutOfACheckInterruptsConnectionsInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := newListener()
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, func(cfg *Config) {
			cfg.ConnectTimeout, cfg.MaxConnecting, cfg.PoolMonitor = 2*time.Second, 1, heard.monitor()
		})
		s := selected(t, c)
		conn, idle := checkOut(t, s), checkOut(t, s)
		s.CheckIn(idle)
		p.hang()
		using := async(func() error { return ping(t.Context(), conn) })
		pass(t, c.cfg.HeartbeatInterval)
		pass(t, time.Second)
		_ = checkOut(t, s)
		connecting := async(func() error { return operation(t.Context(), s) })
		pass(t, time.Second-1)
		unsettled(t, "the operation", using)
		pass(t, 1)
		err := settled(t, "the operation", using)
		if want := "connection to a:27017 interrupted due to server monitor timeout"; !errors.Is(err, errMonitorTimeout) ||
			!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "disconnected") {
			t.Errorf("the operation ended with %v, want %q", err, want)
		}
		s.CheckIn(conn)
		var cleared *PoolClearedError
		if err := settled(t, "the pending connection", connecting); !errors.As(err, &cleared) {
			t.Errorf("the pending connection ended with %v", err)
		}
		s.CheckIn(idle)
		counters(t, s, 0, 0, 0)
		events, _ := heard.all()
		if !slices.ContainsFunc(events, func(e event.PoolEvent) bool { return e.Type == event.ConnectionPoolCleared && e.Interruption }) {
			t.Error("no event PoolCleared with Interruption")
		}
	})
}

// It may have been upgraded at the next check.
func TestATooOldServerIsIncompatibleAndStillChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: wireVersion(5)}
		c := start(t, network{addrA: p}, nil)
		pass(t, c.cfg.HeartbeatInterval)
		p.wantHellos(t, 2)
		if c.Snapshot().Description.CompatibilityError == nil {
			t.Error("the server is not reported as incompatible")
		}
	})
}

// On a direct connection a server of any kind is selectable, so its pool must be ready too.
func TestADirectConnectionToAMemberWithoutDataCanBeUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		direct := true
		hello := append(member(false, addrA), standalone()[2])
		hello[2].Value = false // neither primary nor secondary
		c := start(t, network{addrA: {hello: hello}}, func(cfg *Config) { cfg.Topology.Direct = &direct })
		if err := operation(t.Context(), selected(t, c)); err != nil {
			t.Error(err)
		}
		if kindOf(c, addrA) != topology.RSOther {
			t.Errorf("the server is %v", kindOf(c, addrA))
		}
	})
}

// The operation whose network error cancels the check makes the server Unknown. If the handshake of another operation has made
// it known again when the monitor looks, no selection would ask for the check that was cancelled.
func TestACheckThatWasCancelledIsMadeAgainIfTheServerIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, nil)
		s := selected(t, c)
		p.hang()
		pass(t, c.cfg.HeartbeatInterval) // a check hangs now
		p.set(func(p *peer) { p.script = nil })
		before := p.hellos()
		s.cancelCheck()
		pass(t, MinHeartbeatInterval)
		p.wantHellos(t, before+1)
	})
}
