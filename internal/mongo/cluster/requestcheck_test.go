package cluster

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

func TestAFailedDialMakesTheMonitorCheckImmediately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, nil)
		s := selected(t, c)
		pass(t, 2*time.Second)
		p.down(syscall.ECONNREFUSED)
		if operation(t.Context(), s) == nil {
			t.Fatal("an operation succeeded without a server")
		}
		synctest.Wait()
		if kindOf(c, addrA) != topology.Unknown {
			t.Error("the server is still known")
		}
	})
}

// The retry of an operation whose dial failed waits for the check that shows whether the server has died. A polled server is healthy
// soon after: the check does not wait for MinHeartbeatInterval.
func TestTheCheckAfterAFailedDialDoesNotWaitForTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, nil)
		s := selected(t, c)
		pass(t, c.cfg.HeartbeatInterval+time.Millisecond)              // a check has just ended
		for i, want := range []time.Duration{0, 0, probeInterval, 0} { // a check at once, a probe, the next probe
			if i == 3 {
				pass(t, probeInterval)
			}
			p.set(func(p *peer) { p.dial = func(context.Context) error { return syscall.ECONNREFUSED } })
			var failed *HandshakeError
			if err := operation(t.Context(), s); !errors.As(err, &failed) {
				t.Fatal(err)
			}
			p.set(func(p *peer) { p.dial = nil })
			began := time.Now()
			failed.Check.Wait(t.Context())
			if took := time.Since(began); took != want {
				t.Errorf("the wait %d took %v, want %v", i, took, want)
			}
			synctest.Wait()
		}
	})
}

func TestTheEndOfARequestedCheck(t *testing.T) {
	closed := func(done <-chan struct{}) bool {
		synctest.Wait()
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, nil)
		s := selected(t, c)
		pass(t, time.Second)
		p.hang()
		during := s.nextCheck().done
		s.requestCheck()
		if closed(during) {
			t.Error("the check has ended although the server is silent")
		}
		later := s.nextCheck().done // a check is under way
		s.requestCheck()
		p.down(syscall.ECONNREFUSED)
		if !closed(during) || closed(later) {
			t.Errorf("after the first check has ended: %v, %v", closed(during), closed(later))
		}
		if kindOf(c, addrA) != topology.Unknown {
			t.Error("the check ended before its result was applied")
		}
		pass(t, MinHeartbeatInterval)
		if !closed(later) {
			t.Error("the second check has not ended")
		}
	})
}

func TestTheWaitForACheckEnds(t *testing.T) {
	never := make(chan struct{})
	done := make(chan struct{})
	close(done)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		done chan struct{}
		want time.Duration
	}{
		{"when the check has ended", nil, done, 0},
		{"when the context has ended", cancelled, never, 0},
		{"after the time in which a check begins and ends", nil, nil, 2 * MinHeartbeatInterval},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := c.ctx
				if ctx == nil {
					ctx = t.Context()
				}
				began := time.Now()
				(&PendingCheck{done: c.done, limit: 2 * MinHeartbeatInterval}).Wait(ctx)
				if took := time.Since(began); took != c.want {
					t.Errorf("it took %v, want %v", took, c.want)
				}
			})
		})
	}
}

func TestALoadBalancerIsNotChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, network{addrA: {}}, func(cfg *Config) { cfg.Topology.LoadBalanced = true })
		if selectedNow(t, c).nextCheck() != nil {
			t.Error("the caller would wait for a check")
		}
	})
}

// A shutdown error clears the pool and requests a check. The events must not wait for the check.
func TestAShutdownErrorIsReportedBeforeItsCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := newListener()
		s := bare(t, &peer{hello: standalone()}, func(cfg *Config) { cfg.PoolMonitor = heard.monitor() })
		found(t, s, standalone())
		c := checkOut(t, s)
		s.cluster.Answered(s, c, 91, "shutdown", nil)
		got := heard.types()
		if last := got[len(got)-1]; last != event.ConnectionPoolCleared || len(s.check) != 1 {
			t.Errorf("the last event is %s, %d checks are requested", last, len(s.check))
		}
		s.CheckIn(c)
	})
}

// A monitor that has stopped checks nothing, so nobody may wait for it.
func TestARequestedCheckEndsWithItsMonitor(t *testing.T) {
	for _, c := range []struct {
		name string
		stop func(*Cluster)
	}{
		{"when the server leaves the topology", func(c *Cluster) { c.ReplaceSeeds([]string{addrB}) }},
		{"when the client is closed", func(c *Cluster) { c.Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{hello: mongos()}
				cluster := start(t, network{addrA: p, addrB: {hello: mongos()}}, nil)
				s := selected(t, cluster)
				pass(t, MinHeartbeatInterval/2)
				before := s.nextCheck()
				began := time.Now()
				c.stop(cluster)
				before.Wait(t.Context())
				s.nextCheck().Wait(t.Context())
				if took := time.Since(began); took != 0 {
					t.Errorf("the waits took %v", took)
				}
			})
		})
	}
}

// A connection for minPoolSize that fails is no reason for an early check: no operation waits for it (SDAM, "backpressure").
func TestAFailedConnectionThatNobodyWaitsForIsNotProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		p := &peer{hello: standalone(), dial: func(context.Context) error {
			if dials++; dials > 1 { // the monitor's comes first
				return syscall.ECONNREFUSED
			}
			return nil
		}}
		start(t, network{addrA: p}, func(cfg *Config) { cfg.MinPoolSize = 1 })
		pass(t, MinHeartbeatInterval-1)
		p.wantHellos(t, 1)
		pass(t, 1)
		p.wantHellos(t, 2)
	})
}

// The check that an operation waits for has begun before the operation looks: no second one follows it.
func TestAWaitForACheckThatHasBegunRequestsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, nil)
		s := selected(t, c)
		pass(t, 2*time.Second)
		p.set(func(p *peer) {
			p.script = func(q *question) bool {
				if q.hello {
					sleep(t.Context(), 5*time.Millisecond, nil)
				}
				return false
			}
		})
		before := p.hellos()
		check := s.nextCheck()
		s.requestCheck()
		synctest.Wait()
		check.Wait(t.Context())
		pass(t, MinHeartbeatInterval-time.Millisecond)
		p.wantHellos(t, before+1)
	})
}

// The server of an operation without an answer is checked soon, also if its last hello has just come.
func TestASuspectIsCheckedSoon(t *testing.T) {
	for streams, waits := range map[bool][]time.Duration{false: {0, 0, probeInterval}, true: {0, probeInterval}} {
		for i, want := range waits {
			synctest.Test(t, func(t *testing.T) {
				c, _ := monitored(t, streams)
				s := selected(t, c)
				pass(t, 10*time.Millisecond)
				await := func() {
					check := s.Suspect()
					check.hurry() // as the selection of another server does
					check.Wait(t.Context())
				}
				for range i {
					await()
				}
				began := time.Now()
				await()
				if took := time.Since(began); took != want {
					t.Errorf("streams %v: the wait %d took %v, want %v", streams, i, took, want)
				}
			})
		}
	}
}

// A check answers every request from before it.
func TestACheckForgetsTheDoubtsBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		s := bare(t, p, nil)
		request(s.doubted)
		s.cluster.background.Go(func() { (&monitor{server: s}).run(s.cluster.backgroundCtx) })
		pass(t, time.Second)
		p.wantHellos(t, 1)
	})
}

// A server that dies just after the early check of a lost connection is found by the next failed dial, although no operation waits. Without
// a lost connection a failed dial causes no early check: perhaps the server is overloaded.
func TestAFailedDialAfterAnEarlyCheckIsCheckedAtOnce(t *testing.T) {
	for _, early := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := &peer{hello: standalone()}
			c := start(t, network{addrA: p}, nil)
			s := selected(t, c)
			pass(t, c.cfg.HeartbeatInterval+time.Millisecond) // a check has just ended
			if early {
				lose(t, c)
			}
			p.down(syscall.ECONNREFUSED)
			for range 3 { // the first may have an idle connection
				if operation(t.Context(), s) == nil {
					t.Error("an operation succeeded without a server")
				}
				pass(t, time.Millisecond)
			}
			if unknown := kindOf(c, addrA) == topology.Unknown; unknown != early {
				t.Errorf("early check %v: the server is %v", early, kindOf(c, addrA))
			}
		})
	}
}
