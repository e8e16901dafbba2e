package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// wantEnded fails unless the client has closed every connection that the peer accepted.
func (p *peer) wantEnded(t *testing.T, from int) {
	t.Helper()
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, nc := range p.conns[from:] {
		_ = nc.SetReadDeadline(time.Unix(1, 0))
		if _, err := nc.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("connection %d of %d is open", from+i+1, len(p.conns))
		}
	}
}

// Whatever became of a connection, the socket is closed.
func TestEveryConnectionIsClosedInTheEnd(t *testing.T) {
	answer := make(chan struct{})
	for _, c := range []struct {
		name   string
		reason string // that the listener is told
		do     func(t *testing.T, p *peer, s *Server)
	}{
		{"one that is idle when the pool is closed", event.ReasonPoolClosed, func(t *testing.T, _ *peer, s *Server) {
			if err := operation(t.Context(), s); err != nil {
				t.Error(err)
			}
			s.cluster.Close()
		}},
		{"one that is idle when the pool is cleared", event.ReasonStale, func(t *testing.T, _ *peer, s *Server) {
			if err := operation(t.Context(), s); err != nil {
				t.Error(err)
			}
			s.pool.clear(errDown, false).run()
		}},
		{"one that is in use when the pool is cleared", event.ReasonStale, func(t *testing.T, _ *peer, s *Server) {
			conn := checkOut(t, s)
			s.pool.clear(errDown, false).run()
			s.CheckIn(conn)
		}},
		{"one whose reply does not arrive", event.ReasonError, func(t *testing.T, p *peer, s *Server) {
			conn := checkOut(t, s)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			p.hang()
			if ping(ctx, conn) == nil {
				t.Error("it was answered")
			}
			s.CheckIn(conn)
			pass(t, owedReplyLimit)
		}},
		{"one whose handshake is refused", event.ReasonError, func(t *testing.T, p *peer, s *Server) {
			p.set(func(p *peer) { p.script = refusing(18, "denied") })
			if operation(t.Context(), s) == nil {
				t.Error("it succeeded")
			}
		}},
		{"one whose handshake ends after the pool was cleared", event.ReasonError, func(t *testing.T, p *peer, s *Server) {
			p.set(func(p *peer) { p.script = func(*question) bool { <-answer; return false } })
			connecting := async(func() error { return operation(t.Context(), s) })
			unsettled(t, "the handshake", connecting)
			s.pool.clear(errDown, true).run()
			err := settled(t, "the handshake", connecting)
			var failed *HandshakeError
			if !errors.Is(err, errDown) || errors.As(err, &failed) {
				t.Errorf("what broke the handshake off is reported as %v", err)
			}
			close(answer)
		}},
		{"one that is in use when the pool is closed", event.ReasonPoolClosed, func(t *testing.T, _ *peer, s *Server) {
			conn := checkOut(t, s)
			s.cluster.Close()
			s.CheckIn(conn)
		}},
		{"one that rested too long", event.ReasonIdle, func(t *testing.T, _ *peer, s *Server) {
			if err := operation(t.Context(), s); err != nil {
				t.Error(err)
			}
			pass(t, 2*time.Minute)
			s.cluster.cfg.MaxConnIdleTime = time.Minute
			s.CheckIn(checkOut(t, s))
			s.cluster.Close()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer = make(chan struct{})
				p := &peer{hello: standalone()}
				heard := newListener()
				s := bare(t, p, func(cfg *Config) { cfg.PoolMonitor = heard.monitor() })
				found(t, s, standalone())
				c.do(t, p, s)
				p.wantEnded(t, 0)
				events, _ := heard.all()
				i := slices.IndexFunc(events, func(e event.PoolEvent) bool { return e.Type == event.ConnectionClosed })
				if i < 0 || events[i].Reason != c.reason || events[i].ConnectionID != 1 {
					t.Errorf("the listener was told %+v, want the reason %s", events, c.reason)
				}
				counters(t, s, 0, 0, 0)
				if n := s.inFlight.Load(); n != 0 {
					t.Errorf("%d operations are in flight", n)
				}
			})
		})
	}
	t.Run("a monitor's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := &peer{hello: standalone()}
			c := start(t, network{addrA: p}, nil)
			selected(t, c)
			pass(t, time.Minute)
			c.Close()
			p.wantEnded(t, 0)
		})
	})
	t.Run("a monitor's whose check failed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := &peer{hello: standalone()}
			c := start(t, network{addrA: p}, nil)
			selected(t, c)
			p.hang()
			pass(t, 3*time.Minute)
			p.set(func(p *peer) { p.script = nil })
			pass(t, time.Minute)
			if p.dialed < 3 {
				t.Errorf("only %d connections were made", p.dialed)
			}
			c.Close()
			p.wantEnded(t, 0)
		})
	})
}

// Each server's pool is told to be created and to be closed.
func TestEveryPoolIsToldToBeClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := newListener()
		set := set3()
		c := start(t, set, func(cfg *Config) { cfg.PoolMonitor = heard.monitor() })
		selected(t, c)
		synctest.Wait()
		set[addrA].set(func(p *peer) { p.hello = member(true, addrA, addrB) })
		pass(t, c.cfg.HeartbeatInterval)
		closed := func() map[string]bool {
			addresses := map[string]bool{}
			events, _ := heard.all()
			for _, e := range events {
				if e.Type == event.ConnectionPoolClosed {
					addresses[e.Address] = true
				}
			}
			return addresses
		}
		if got := closed(); len(got) != 1 || !got[addrC] {
			t.Errorf("after %s left, the closed pools are %v", addrC, got)
		}
		c.Close()
		if got := closed(); len(got) != 3 {
			t.Errorf("the closed pools are %v", got)
		}
		created := 0
		for _, kind := range heard.types() {
			if kind == event.ConnectionPoolCreated {
				created++
			}
		}
		if created != 3 {
			t.Errorf("%d pools were created", created)
		}
	})
}

// After Close the topology changes no more.
func TestAfterCloseNothingIsLearned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, network{addrA: {hello: standalone()}}, nil)
		s := selected(t, c)
		conn := checkOut(t, s)
		c.Close()
		before := c.Snapshot()
		c.ConnectionFailed(s, conn, &IOError{Address: addrA, Err: io.EOF})
		c.handshakeSucceeded(s, s.pool.generation(bson.NilObjectID), &topology.Server{Address: addrA, Type: topology.Mongos})
		c.checkSucceeded(s, &topology.Server{Address: addrA, Type: topology.Mongos})
		if c.checkFailed(s, errDown) {
			t.Error("another check is due")
		}
		if c.Snapshot() != before || s.pool.state != closed {
			t.Errorf("the topology is %+v, the pool in state %d", c.Snapshot().Description, s.pool.state)
		}
		s.CheckIn(conn)
	})
}

// A process that stood still finds a server that came meanwhile, although its time is over.
func TestASelectionLooksOnceMoreWhenItsTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, &peer{hello: standalone()}, func(cfg *Config) { cfg.ServerSelectionTimeout = time.Second })
		selecting := async(func() error {
			target, err := s.cluster.Select(t.Context(), write)
			if err == nil && target.Server != s {
				err = errDown
			}
			return err
		})
		unsettled(t, "the selection", selecting)
		d := &topology.Server{Address: addrA, Type: topology.Standalone, MaxWireVersion: 21, HasRTT: true}
		came := topology.Apply(s.cluster.Snapshot().Description, d)
		// Nobody is told of it, as if the telling were late.
		s.cluster.snapshot.Store(&Snapshot{Description: came, servers: []*Server{s}, changed: make(chan struct{})})
		pass(t, time.Second)
		if err := settled(t, "the selection", selecting); err != nil {
			t.Error(err)
		}
	})
}

// A pool is closed once, and stays closed.
func TestAClosedPoolStaysClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := newListener()
		s := bare(t, &peer{hello: standalone()}, func(cfg *Config) { cfg.PoolMonitor = heard.monitor() })
		found(t, s, standalone())
		s.pool.close().run()
		generation := s.pool.generation(bson.NilObjectID)
		s.pool.close().run()
		s.pool.clear(errDown, false).run()
		s.pool.makeReady().run()
		want := []string{event.ConnectionPoolCreated, event.ConnectionPoolReady, event.ConnectionPoolClosed}
		if got := heard.types(); !slices.Equal(got, want) || s.pool.state != closed || s.pool.generation(bson.NilObjectID) != generation {
			t.Errorf("events %v, state %d", got, s.pool.state)
		}
	})
}

// Drain looks every two milliseconds.
func TestDrainEndsSoonAfterTheLastOperation(t *testing.T) {
	for end, want := range map[time.Duration]time.Duration{
		0: 0, time.Millisecond: 2 * time.Millisecond, 3 * time.Millisecond: 4 * time.Millisecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := bare(t, &peer{hello: standalone()}, nil)
			found(t, s, standalone())
			conn := checkOut(t, s)
			if end == 0 {
				s.CheckIn(conn)
			} else {
				time.AfterFunc(end, func() { s.CheckIn(conn) })
			}
			began := time.Now()
			s.cluster.Drain(t.Context())
			if took := time.Since(began); took != want {
				t.Errorf("the operation ended after %v, Drain after %v, want %v", end, took, want)
			}
		})
	}
}

// SDAM: a handshake that is refused is judged like any answer: without a code by its message, and by its topologyVersion.
func TestARefusedHandshakeIsJudgedByAllThatTheServerSaid(t *testing.T) {
	version := func(n int64) bson.E {
		return bson.E{Key: "topologyVersion", Value: bson.D{{Key: "processId", Value: bson.ObjectID{1}}, {Key: "counter", Value: n}}}
	}
	code, message := bson.E{Key: "code", Value: 11602}, bson.E{Key: "errmsg", Value: "node is recovering"}
	for _, c := range []struct {
		name  string
		reply bson.D
		want  reaction
	}{
		{"a message without a code", bson.D{message}, reaction{unknown: true, checkNow: true}},
		{"a code", bson.D{code}, reaction{unknown: true, checkNow: true}},
		{"a newer version", bson.D{code, version(3)}, reaction{unknown: true, checkNow: true}},
		{"a version that is known", bson.D{code, version(2)}, reaction{}},
		{"an older version", bson.D{message, version(1)}, reaction{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{script: func(q *question) bool {
					q.answer(append(bson.D{{Key: "ok", Value: 0}}, c.reply...))
					return true
				}}
				s := bare(t, p, nil)
				found(t, s, append(standalone(), version(2)))
				if operation(t.Context(), s) == nil {
					t.Fatal("it succeeded")
				}
				c.want.check(t, s)
			})
		})
	}
}

func TestTheTextOfACheckoutWithoutAConnection(t *testing.T) {
	e := &CheckOutError{
		Address: addrA, Out: 2, Connecting: 1, LongestUse: 3*time.Second + 49_600*time.Microsecond,
		Waited: 50*time.Millisecond + 400*time.Microsecond, Err: io.EOF,
	}
	for limit, of := range map[uint64]string{0: "without a limit", 1: "of at most 1", 5: "of at most 5"} {
		e.Limit = limit
		want := "no connection to a:27017 after 50ms: 2 " + of + " are in use, the longest for 3.05s, and 1 are being made: EOF"
		if e.Error() != want || !errors.Is(e, io.EOF) {
			t.Errorf("%q, want %q", e.Error(), want)
		}
	}
	// Load Balancer specification, "Connection Tracking": in load balanced mode always, else if it says something.
	const detailed = "Timeout waiting for connection from the connection pool. maxPoolSize: 5, connections in use by cursors: %d, " +
		"connections in use by transactions: 0, connections in use by other operations: %d"
	for _, c := range []struct {
		balanced bool
		cursors  uint64
		want     bool
	}{{false, 0, false}, {false, 1, true}, {true, 0, true}, {true, 2, true}} {
		e.Limit, e.LoadBalanced, e.Uses = 5, c.balanced, [UseRequest + 1]uint64{UseCursor: c.cursors, UseOperation: 2 - c.cursors}
		if got := strings.Contains(e.Error(), fmt.Sprintf(detailed, c.cursors, 2-c.cursors)); got != c.want {
			t.Errorf("%+v: %q", c, e.Error())
		}
	}
	const never = "connection pool for a:27017 is paused: no check of the server has succeeded yet"
	if paused := (&PoolClearedError{Address: addrA}).Error(); paused != never {
		t.Error(paused)
	}
}

// The connection of the monitor is perhaps broken too, also while no check is under way (Server Monitoring, "hello or
// legacy hello Cancellation").
func TestANetworkErrorOfAnOperationEndsTheConnectionOfTheMonitor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, nil)
		s := selected(t, c)
		pass(t, time.Second)
		s.cancelCheck()
		pass(t, c.cfg.HeartbeatInterval-1)
		p.wantHellos(t, 2)
		if p.dialed != 2 || kindOf(c, addrA) != topology.Standalone {
			t.Errorf("%d connections were made, the server is %v", p.dialed, kindOf(c, addrA))
		}
	})
}

// A check that is cancelled ends: it does not dial once more with a context that has ended.
func TestACancelledCheckDoesNotBeginAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := 0
		p := &peer{hello: standalone(), dial: func(ctx context.Context) error {
			if ctx.Err() != nil {
				late++
			}
			return ctx.Err()
		}}
		c := start(t, network{addrA: p}, nil)
		selected(t, c)
		p.hang()
		pass(t, c.cfg.HeartbeatInterval) // the next check is under way
		c.Close()
		if late != 0 {
			t.Errorf("%d connections were dialled with a context that had ended", late)
		}
	})
}
