package cluster

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
)

// owers returns a server on a pool of at most most connections. The first pings on owing connections have ended with their contexts,
// a millisecond apart; their replies never come, those to later messages do.
func owers(t *testing.T, most, owing int) (*listener, *Server) {
	t.Helper()
	heard := newListener()
	p := &peer{hello: standalone(), script: func(q *question) bool { return !q.hello && q.dialed <= owing }}
	s := bare(t, p, func(cfg *Config) { cfg.MaxPoolSize, cfg.PoolMonitor = uint64(most), heard.monitor() })
	found(t, s, standalone())
	var used []*Conn
	for range owing {
		used = append(used, checkOut(t, s))
	}
	for _, c := range used {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if err := ping(ctx, c); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		cancel()
		s.CheckIn(c)
	}
	synctest.Wait()
	return heard, s
}

// closedFor returns the ids of the connections that were closed for waiters, sorted: nothing enforces their order.
func (l *listener) closedFor() (ids []int64) {
	events, _ := l.all()
	for _, e := range events {
		if e.Type == event.ConnectionClosed && e.Reason == event.ReasonError && errors.Is(e.Error, errYields) {
			ids = append(ids, e.ConnectionID)
		}
	}
	slices.Sort(ids)
	return ids
}

// A reply that nobody waits for holds no place that a caller waits for.
func TestAConnectionThatOwesAReplyYieldsToAWaiter(t *testing.T) {
	for _, c := range []struct {
		name                 string
		most, owing, callers int
		closed               []int64
	}{
		{"a full pool of one", 1, 1, 1, []int64{1}},
		{"the one that has owed longest", 3, 3, 1, []int64{1}},
		{"one for each caller", 3, 3, 2, []int64{1, 2}},
		{"more callers than connections", 2, 2, 5, []int64{1, 2}},
		{"a pool with room", 4, 3, 1, nil},
		{"a pool with room for some", 4, 3, 2, []int64{1}},
		{"a pool without a limit", 0, 3, 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heard, s := owers(t, c.most, c.owing)
				began := time.Now()
				got := make(chan error, c.callers)
				held := make(chan struct{})
				for range c.callers { // they hold what they get until all others wait
					go func() {
						conn, err := s.CheckOut(t.Context(), nil)
						if err == nil {
							<-held
							err = ping(t.Context(), conn)
							s.CheckIn(conn)
						}
						got <- err
					}()
				}
				synctest.Wait()
				close(held)
				for range c.callers {
					if err := <-got; err != nil {
						t.Error(err)
					}
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("the callers waited for %v", took)
				}
				if ids := heard.closedFor(); !slices.Equal(ids, c.closed) {
					t.Errorf("the connections %v were closed, want %v", ids, c.closed)
				}
				if s.pool.yielding != 0 || len(s.pool.owing) != c.owing-len(c.closed) {
					t.Errorf("%d yield, %d owe", s.pool.yielding, len(s.pool.owing))
				}
			})
		})
	}
}

func TestAConnectionThatBeginsToOweYieldsToTheOneThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard, s := owers(t, 1, 0)
		c := checkOut(t, s)
		next := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "the next operation", next)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		s.cluster.cfg.Dialer.(network)[addrA].set(func(p *peer) {
			p.script = func(q *question) bool { return !q.hello && q.dialed == 1 }
		})
		if err := ping(ctx, c); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		s.CheckIn(c)
		if err := settled(t, "the next operation", next); err != nil {
			t.Error(err)
		}
		if ids := heard.closedFor(); !slices.Equal(ids, []int64{1}) {
			t.Errorf("the connections %v were closed", ids)
		}
	})
}

// A reply that comes at the moment when its connection yields: the connection is not given to anybody.
func TestAConnectionThatYieldsIsNotUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := owers(t, 1, 1)
		s.pool.mu.Lock()
		c := s.pool.owing[0]
		s.pool.enqueue(&waiter{granted: make(chan grant, 1)}, s.pool.own)
		s.pool.connectForWaiters()
		w := s.pool.waiters.first
		s.pool.mu.Unlock()
		if c.interruption() == nil {
			t.Error("the connection can be used")
		}
		g := <-w.granted
		if g.err != nil || g.conn == c {
			t.Errorf("the waiter got %v, %v", g.conn, g.err)
		}
		s.pool.checkIn(g.conn)
	})
}

// A caller that needs no place of its own closes nothing: an idle connection, and one that is being made for another caller.
func TestOnlyAWaiterMakesAConnectionYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard, s := owers(t, 3, 1)
		idle := checkOut(t, s)
		s.CheckIn(idle)
		for range 3 {
			if err := operation(t.Context(), s); err != nil {
				t.Error(err)
			}
		}
		if ids := heard.closedFor(); ids != nil {
			t.Errorf("the connections %v were closed", ids)
		}
	})
}

// Room that maxConnecting does not let a caller use yet is room.
func TestAPoolWithRoomClosesNothingForWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard, s := owers(t, 5, 1)
		s.cluster.cfg.Dialer.(network)[addrA].set(func(p *peer) {
			p.dial = func(ctx context.Context) error { sleep(ctx, time.Second, nil); return nil }
		})
		callers := uint64(0)
		done := make(chan error)
		for ; callers < s.cluster.cfg.MaxConnecting+2; callers++ {
			go func() { done <- operation(t.Context(), s) }()
		}
		for range callers {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if ids := heard.closedFor(); ids != nil {
			t.Errorf("the connections %v were closed", ids)
		}
	})
}

// A connection that is being made, and whose caller has gone, is on its way to the next one. So is one for minPoolSize.
func TestAConnectionOnItsWaySparesTheOnesThatOwe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard, s := owers(t, 2, 1)
		slow := func(ctx context.Context) error { sleep(ctx, 100*time.Millisecond, nil); return nil }
		s.cluster.cfg.Dialer.(network)[addrA].set(func(p *peer) { p.dial = slow })
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_ = operation(ctx, s)
		if err := operation(t.Context(), s); err != nil {
			t.Error(err)
		}
		if ids := heard.closedFor(); ids != nil {
			t.Errorf("the connections %v were closed", ids)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		heard, s := owers(t, 2, 1)
		s.pool.mu.Lock()
		s.pool.filling, s.pool.total = 1, 2
		s.pool.enqueue(&waiter{granted: make(chan grant, 1)}, s.pool.own)
		s.pool.connectForWaiters()
		s.pool.filling, s.pool.total, s.pool.connecting, s.pool.waiters, s.pool.own.waiters = 0, 1, 0, waitQueue{}, waitQueue{links: ofShare}
		s.pool.mu.Unlock()
		synctest.Wait()
		if ids := heard.closedFor(); ids != nil {
			t.Errorf("with one for minPoolSize the connections %v were closed", ids)
		}
	})
}

// While a connection is being closed for a waiter, no other is closed for it.
func TestOneConnectionYieldsForOneWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard, s := owers(t, 3, 3)
		w := &waiter{granted: make(chan grant, 1)}
		s.pool.mu.Lock()
		s.pool.enqueue(w, s.pool.own)
		s.pool.connectForWaiters()
		s.pool.connectForWaiters()
		s.pool.mu.Unlock()
		s.pool.checkIn((<-w.granted).conn)
		synctest.Wait()
		if ids := heard.closedFor(); len(ids) != 1 {
			t.Errorf("the connections %v were closed", ids)
		}
	})
}

// Neither does a pool that was cleared, or closed: its waiters have an error.
func TestAPoolThatIsNotReadyClosesNothingForWaiters(t *testing.T) {
	for name, end := range map[string]func(*Server){
		"cleared": func(s *Server) { s.pool.clear(io.EOF, false).run() },
		"closed":  func(s *Server) { s.cluster.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heard, s := owers(t, 1, 1)
				end(s)
				if err := operation(t.Context(), s); err == nil {
					t.Error("the operation succeeded")
				}
				synctest.Wait()
				if ids := heard.closedFor(); ids != nil {
					t.Errorf("the connections %v were closed", ids)
				}
				pass(t, owedReplyLimit)
				counters(t, s, 0, 0, 0)
			})
		})
	}
}

// Waiting for late replies must not turn into a connection for each operation: here all are late, and as many callers wait.
func TestALatePoolMakesAtMostOneConnectionForEachCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone(), script: func(q *question) bool { return !q.hello }}
		s := bare(t, p, func(cfg *Config) { cfg.MaxPoolSize = 3 })
		found(t, s, standalone())
		const callers = 40
		for i := range callers {
			time.AfterFunc(time.Duration(i)*7*time.Millisecond, func() {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				_ = operation(ctx, s)
			})
		}
		pass(t, time.Second)
		if n := p.dials(); n > callers {
			t.Errorf("%d connections for %d callers", n, callers)
		}
		pass(t, owedReplyLimit)
		counters(t, s, 0, 0, 0)
		if s.pool.yielding != 0 || len(s.pool.owing) != 0 {
			t.Errorf("%d yield, %d owe", s.pool.yielding, len(s.pool.owing))
		}
	})
}
