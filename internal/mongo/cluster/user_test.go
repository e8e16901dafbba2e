package cluster

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
)

// plainUser returns a user who logs in with PLAIN.
func plainUser(t *testing.T, name string) *User {
	t.Helper()
	a, err := auth.New(auth.Credential{Mechanism: auth.Plain, Username: name, Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	return NewUser(a)
}

func checkOutFor(t *testing.T, s *Server, u *User) *Conn {
	t.Helper()
	c, err := s.CheckOut(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// yielded returns how many connections were closed because another user needed their place.
func (l *listener) yielded() int {
	n := 0
	events, _ := l.all()
	for _, e := range events {
		if e.Type == event.ConnectionClosed && e.Reason == event.ReasonIdle {
			n++
		}
	}
	return n
}

// users fails unless the pool knows of this many users beside its own.
func users(t *testing.T, s *Server, want int) {
	t.Helper()
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if len(s.pool.others) != want {
		t.Errorf("the pool knows of %d users, want %d", len(s.pool.others), want)
	}
}

func TestAConnectionStaysWithItsUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, loginPeer(nil), nil)
		found(t, s, standalone())
		ann, bob := plainUser(t, "ann"), plainUser(t, "bob")
		first := checkOutFor(t, s, ann)
		s.CheckIn(first)
		other := checkOutFor(t, s, bob)
		own := checkOut(t, s)
		if other == first || own == first || own == other {
			t.Error("two users have one connection")
		}
		if !first.LogsIn() || own.LogsIn() {
			t.Error("the connections of a user log in, those of no user do not")
		}
		if again := checkOutFor(t, s, ann); again != first {
			t.Error("a user has another connection than the idle one")
		} else {
			s.CheckIn(again)
		}
		s.CheckIn(other)
		s.CheckIn(own)
		synctest.Wait()
		counters(t, s, 3, 3, 0)
		users(t, s, 2)
	})
}

// At the limit, the place of the idle connection that was not used for the longest time goes to the user who has none.
func TestAnIdleConnectionYieldsToAnotherUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, loginPeer(nil), func(cfg *Config) { cfg.MaxPoolSize = 2 })
		found(t, s, standalone())
		ann, bob, eve := plainUser(t, "ann"), plainUser(t, "bob"), plainUser(t, "eve")
		oldest := checkOutFor(t, s, ann)
		s.CheckIn(oldest)
		pass(t, time.Millisecond)
		newer := checkOutFor(t, s, bob)
		s.CheckIn(newer)
		s.CheckIn(checkOutFor(t, s, eve))
		synctest.Wait()
		counters(t, s, 2, 2, 0)
		users(t, s, 2)
		if c := checkOutFor(t, s, bob); c != newer {
			t.Error("the connection that was used last was closed")
		} else {
			s.CheckIn(c)
		}
	})
}

// A connection that comes back goes to another user if nobody of its own waits.
func TestAConnectionInUseYieldsToAnotherUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, loginPeer(nil), func(cfg *Config) { cfg.MaxPoolSize = 1 })
		found(t, s, standalone())
		ann, bob := plainUser(t, "ann"), plainUser(t, "bob")
		held := checkOutFor(t, s, ann)
		waits := async(func() *Conn { return checkOutFor(t, s, bob) })
		unsettled(t, "the checkout", waits)
		s.CheckIn(held)
		s.CheckIn(settled(t, "the checkout", waits))
		synctest.Wait()
		counters(t, s, 1, 1, 0)
		users(t, s, 1)
	})
}

// Many waiters of one user do not keep another one waiting for ever, and a connection is not given up at each turn.
func TestWaitersOfTwoUsersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := newListener()
		s := bare(t, loginPeer(nil), func(cfg *Config) { cfg.MaxPoolSize, cfg.PoolMonitor = 1, heard.monitor() })
		found(t, s, standalone())
		ann, bob := plainUser(t, "ann"), plainUser(t, "bob")
		held := checkOutFor(t, s, ann)
		var uses atomic.Int32
		use := func(u *User) <-chan int32 {
			return async(func() int32 {
				c := checkOutFor(t, s, u)
				defer s.CheckIn(c)
				pass := time.NewTimer(time.Millisecond)
				<-pass.C
				return uses.Add(1)
			})
		}
		var others []<-chan int32
		bobs := use(bob)
		synctest.Wait()
		for range 3 * mostPassed {
			others = append(others, use(ann))
		}
		synctest.Wait()
		s.CheckIn(held)
		if n := <-bobs; n != mostPassed+1 {
			t.Errorf("the other user had a connection after %d uses, want %d", n-1, mostPassed)
		}
		for _, done := range others {
			<-done
		}
		synctest.Wait()
		if closed := heard.yielded(); closed != 2 {
			t.Errorf("%d connections were closed, want one for each turn", closed)
		}
	})
}

// More users than connections: each is served, and none is remembered afterwards but those with a connection.
func TestMoreUsersThanConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, loginPeer(nil), func(cfg *Config) { cfg.MaxPoolSize = 3 })
		found(t, s, standalone())
		const each = 5
		done := make(chan error)
		for range 40 {
			u := plainUser(t, "u")
			for range each {
				go func() {
					c, err := s.CheckOut(t.Context(), u)
					if err == nil {
						pass := time.NewTimer(time.Millisecond)
						<-pass.C
						err = ping(t.Context(), c)
						s.CheckIn(c)
					}
					done <- err
				}()
			}
		}
		for range 40 * each {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		s.pool.mu.Lock()
		defer s.pool.mu.Unlock()
		if s.pool.total > 3 || s.pool.idleConns() != int(s.pool.total) {
			t.Errorf("the pool has %d connections, %d of them idle", s.pool.total, s.pool.idleConns())
		}
		for _, u := range s.pool.others {
			if u.total == 0 || len(u.idle) != int(u.total) || u.waiters.length != 0 {
				t.Errorf("a user is remembered with %d connections", u.total)
			}
		}
	})
}

// Two users share the connections out, and then leave them as they are.
func TestUsersShareTheConnectionsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := newListener()
		s := bare(t, loginPeer(nil), func(cfg *Config) { cfg.MaxPoolSize, cfg.PoolMonitor = 8, heard.monitor() })
		found(t, s, standalone())
		ann, bob := plainUser(t, "ann"), plainUser(t, "bob")
		end := time.Now().Add(time.Second)
		done := make(chan struct{})
		count := 0
		run := func(u *User) {
			for range 16 {
				count++
				go func() {
					defer func() { done <- struct{}{} }()
					for time.Now().Before(end) {
						c := checkOutFor(t, s, u)
						pass := time.NewTimer(time.Millisecond)
						<-pass.C
						s.CheckIn(c)
					}
				}()
			}
		}
		run(ann)
		pass(t, 100*time.Millisecond)
		run(bob)
		pass(t, 500*time.Millisecond)
		s.pool.mu.Lock()
		a, b := s.pool.others[ann].total, s.pool.others[bob].total
		s.pool.mu.Unlock()
		if a+1 < b || b+1 < a {
			t.Errorf("the users have %d and %d connections", a, b)
		}
		before := heard.yielded()
		for range count {
			<-done
		}
		if before == 0 || before > 8 || heard.yielded() > before+8 {
			t.Errorf("%d connections were closed to share them out, then %d", before, heard.yielded()-before)
		}
	})
}

// A waiter that leaves is forgotten with its user.
func TestAUserWhoWaitsNoLongerIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, loginPeer(nil), func(cfg *Config) { cfg.MaxPoolSize, cfg.WaitQueueTimeout = 1, time.Millisecond })
		found(t, s, standalone())
		held := checkOut(t, s)
		var full *CheckOutError
		if _, err := s.CheckOut(t.Context(), plainUser(t, "ann")); !errors.As(err, &full) {
			t.Errorf("the error is %v", err)
		}
		users(t, s, 0)
		s.CheckIn(held)
	})
}

// That a server refuses one user is nothing to the others. What else a failed login shows counts as for the client's own user.
func TestARefusedLoginOfAUser(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*question)
		want   reaction
	}{
		"wrong credentials":      {loginRefused(18), reaction{}},
		"a mechanism too few":    {loginRefused(334), reaction{}},
		"a shutdown":             {loginRefused(91), reaction{unknown: true, cleared: true, checkNow: true}},
		"a connection that ends": {func(q *question) { q.conn.Close() }, reaction{unknown: true, cleared: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := bare(t, loginPeer(c.answer), nil)
				found(t, s, standalone())
				own := checkOut(t, s)
				var failed *HandshakeError
				if _, err := s.CheckOut(t.Context(), plainUser(t, "ann")); !errors.As(err, &failed) {
					t.Errorf("the error is %v", err)
				}
				c.want.check(t, s)
				if s.CheckIn(own); c.want == (reaction{}) {
					counters(t, s, 1, 1, 0)
				}
				users(t, s, 0)
			})
		})
	}
}

// The user of the configuration is one of several, if there are others: those go on working when its password has changed.
func TestARefusedLoginOfTheOwnUser(t *testing.T) {
	for name, c := range map[string]struct {
		shared bool
		want   reaction
	}{
		"beside another one": {true, reaction{}},
		"alone":              {false, reaction{unknown: true, cleared: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				peer := loginPeer(func(q *question) {
					if strings.Contains(string(q.message), "ann") {
						loggedIn(q)
						return
					}
					loginRefused(18)(q)
				})
				s := bare(t, peer, func(cfg *Config) { cfg.Auth = plainUser(t, "service").authenticator.Load() })
				found(t, s, standalone())
				var anns *Conn
				if c.shared {
					anns = checkOutFor(t, s, plainUser(t, "ann"))
				}
				var failed *HandshakeError
				if _, err := s.CheckOut(t.Context(), nil); !errors.As(err, &failed) {
					t.Errorf("the error is %v", err)
				}
				c.want.check(t, s)
				if c.shared {
					s.CheckIn(anns)
					counters(t, s, 1, 1, 0)
				}
			})
		})
	}
}

// The next connection of a user who has another password logs in with that.
func TestAUserLogsInWithTheLastPassword(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var payloads []string
		s := bare(t, loginPeer(func(q *question) {
			payloads = append(payloads, string(q.message))
			loggedIn(q)
		}), nil)
		found(t, s, standalone())
		ann := plainUser(t, "ann")
		first := checkOutFor(t, s, ann)
		ann.LogInWith(plainUser(t, "later").authenticator.Load())
		second := checkOutFor(t, s, ann)
		s.CheckIn(first)
		s.CheckIn(second)
		synctest.Wait()
		if len(payloads) != 2 || !strings.Contains(payloads[0], "ann") || !strings.Contains(payloads[1], "later") {
			t.Errorf("the logins were %q", payloads)
		}
	})
}

// A user who waits for a second connection waits for a turn again, after it had one: otherwise the connections would be closed at each use.
func TestEachTurnIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, loginPeer(nil), func(cfg *Config) { cfg.MaxPoolSize = 4 })
		found(t, s, standalone())
		ann, bob := plainUser(t, "ann"), plainUser(t, "bob")
		held := checkOutFor(t, s, bob)
		var uses atomic.Int32
		var ended atomic.Bool
		done := make(chan struct{})
		const others = 5
		for range others {
			go func() {
				defer func() { done <- struct{}{} }()
				for !ended.Load() {
					c := checkOutFor(t, s, ann)
					pause := time.NewTimer(time.Millisecond)
					<-pause.C
					uses.Add(1)
					s.CheckIn(c)
				}
			}()
		}
		for turn := range 3 {
			pass(t, 10*time.Millisecond)
			before := uses.Load()
			c := checkOutFor(t, s, bob)
			if n := uses.Load() - before; n < mostPassed {
				t.Errorf("turn %d came after %d uses of the other user, want at least %d", turn, n, mostPassed)
			}
			s.CheckIn(c)
		}
		ended.Store(true)
		for range others {
			<-done
		}
		s.CheckIn(held)
	})
}

// While a connection is being closed for a waiter, no other one is.
func TestOneConnectionOfAUserYieldsForOneWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var closed atomic.Int32
		release := make(chan struct{})
		s := bare(t, loginPeer(nil), func(cfg *Config) {
			cfg.MaxPoolSize, cfg.MaxConnecting = 2, 1
			cfg.PoolMonitor = &event.PoolMonitor{Event: func(e *event.PoolEvent) {
				if e.Type == event.ConnectionClosed && e.Reason == event.ReasonIdle {
					closed.Add(1)
					<-release
				}
			}}
		})
		found(t, s, standalone())
		ann, bob := plainUser(t, "ann"), plainUser(t, "bob")
		first, second := checkOutFor(t, s, ann), checkOutFor(t, s, ann)
		waits := async(func() *Conn { return checkOutFor(t, s, bob) })
		unsettled(t, "the checkout", waits)
		for _, c := range []*Conn{first, second} {
			go s.CheckIn(c)
			synctest.Wait()
		}
		if n := closed.Load(); n != 1 {
			t.Errorf("%d connections are closed for one waiter", n)
		}
		close(release)
		s.CheckIn(settled(t, "the checkout", waits))
	})
}

// A connection that is being made for minPoolSize is of no use to another user, who gets one of its own meanwhile.
func TestAUserDoesNotWaitForTheConnectionOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, began := make(chan struct{}), make(chan struct{}, 1)
		s := bare(t, loginPeer(func(q *question) {
			if strings.Contains(string(q.message), "service") {
				began <- struct{}{}
				<-release
			}
			loggedIn(q)
		}), func(cfg *Config) {
			cfg.MinPoolSize, cfg.Auth = 1, plainUser(t, "service").authenticator.Load()
		})
		defer close(release)
		found(t, s, standalone())
		s.pool.fill()
		<-began
		s.CheckIn(settled(t, "the checkout", async(func() *Conn { return checkOutFor(t, s, plainUser(t, "ann")) })))
	})
}
