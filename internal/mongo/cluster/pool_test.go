package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/largebuffer"
)

func TestACheckoutFromAPausedPoolReturnsTheErrorThatClearedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, &peer{hello: standalone()}, nil)
		var cleared *PoolClearedError
		_, err := s.CheckOut(t.Context(), nil)
		if !errors.As(err, &cleared) || cleared.Cause != nil ||
			!strings.Contains(err.Error(), "no check of the server has succeeded yet") {
			t.Errorf("before the first check: %v", err)
		}
		found(t, s, standalone())
		s.pool.clear(errDown, false).run()
		_, err = s.CheckOut(t.Context(), nil)
		if !errors.As(err, &cleared) || !errors.Is(err, errDown) || cleared.Address != addrA {
			t.Errorf("between selection and checkout: %v", err)
		}
		if s.inFlight.Load() != 0 {
			t.Error("a failed checkout counts as an operation in flight")
		}
		counters(t, s, 0, 0, 0)
	})
}

func TestWaitersFailImmediatelyWhenThePoolIsCleared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := newListener()
		s := bare(t, &peer{hello: standalone()}, func(cfg *Config) { cfg.MaxPoolSize, cfg.PoolMonitor = 1, heard.monitor() })
		found(t, s, standalone())
		held := checkOut(t, s)
		waiting := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "the wait", waiting)
		s.pool.clear(errDown, false).run()
		if err := settled(t, "the wait", waiting); !errors.Is(err, errDown) {
			t.Errorf("the waiter got %v", err)
		}
		s.CheckIn(held)
		got := heard.types()
		want := []string{
			event.ConnectionPoolCreated, event.ConnectionPoolReady,
			event.ConnectionCheckOutStarted, event.ConnectionCreated, event.ConnectionReady, event.ConnectionCheckedOut,
			event.ConnectionCheckOutStarted, event.ConnectionPoolCleared, event.ConnectionCheckOutFailed,
			event.ConnectionCheckedIn, event.ConnectionClosed,
		}
		if !slices.Equal(got, want) {
			t.Errorf("events %v, want %v", got, want)
		}
		counters(t, s, 0, 0, 0)
	})
}

func TestTheErrorOfAnExhaustedPoolHasItsNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, &peer{hello: standalone()}, func(cfg *Config) { cfg.MaxPoolSize = 2 })
		found(t, s, standalone())
		first := checkOut(t, s)
		pass(t, 2*time.Second)
		second := checkOut(t, s)
		pass(t, time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := operation(ctx, s)
		var exhausted *CheckOutError
		if !errors.As(err, &exhausted) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error %v", err)
		}
		want := "no connection to a:27017 after 50ms: 2 of at most 2 are in use, the longest for 3.05s, " +
			"and 0 are being made: context deadline exceeded"
		if err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
		s.CheckIn(first)
		s.CheckIn(second)
		counters(t, s, 2, 2, 0)
	})
}

func TestAConnectionGivenToAWaiterIsInUseFromThatTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, &peer{hello: standalone()}, func(cfg *Config) { cfg.MaxPoolSize = 1 })
		found(t, s, standalone())
		held := checkOut(t, s)
		waiting := async(func() *Conn { return checkOut(t, s) })
		unsettled(t, "the wait", waiting)
		pass(t, 20*time.Second)
		s.CheckIn(held)
		handed := settled(t, "the wait", waiting)
		pass(t, time.Second)
		s.pool.mu.Lock()
		err := s.pool.exhausted(errDown, time.Now())
		s.pool.mu.Unlock()
		var exhausted *CheckOutError
		if errors.As(err, &exhausted); exhausted.Out != 1 || exhausted.LongestUse != time.Second {
			t.Errorf("%d in use, the longest for %v, want 1 for 1s", exhausted.Out, exhausted.LongestUse)
		}
		s.CheckIn(handed)
	})
}

func TestAWaitForAConnectionEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		s := bare(t, p, nil)
		found(t, s, standalone())
		p.hang()
		connecting, stop := context.WithCancel(t.Context())
		one := async(func() error { return operation(connecting, s) })
		two := async(func() error { return operation(connecting, s) })
		unsettled(t, "connecting", one)
		counters(t, s, 2, 0, 2)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		began := time.Now()
		err := operation(ctx, s)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 50*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		if want := "0 without a limit are in use, the longest for 0s, and 2 are being made"; !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
		stop()
		for _, result := range []<-chan error{one, two} {
			var exhausted *CheckOutError
			if err := settled(t, "connecting", result); !errors.Is(err, context.Canceled) || !errors.As(err, &exhausted) {
				t.Errorf("connecting ended with %v", err)
			}
		}
		counters(t, s, 2, 0, 2)
		pass(t, s.cluster.cfg.ConnectTimeout)
		counters(t, s, 0, 0, 0)
	})
}

// A grant may come at the moment at which the context ends. The waiter sees either of the two.
func TestAGrantAtTheEndOfTheContextIsReturnedToThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, &peer{hello: standalone()}, func(cfg *Config) { cfg.MaxPoolSize = 1 })
		found(t, s, standalone())
		p := &s.pool
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		held := checkOut(t, s)
		synctest.Wait() // the goroutine that made the connection has ended
		w := &waiter{granted: make(chan grant, 1), since: time.Now()}
		for i := range 50 {
			p.enqueue(w, p.own)
			if i%2 == 0 {
				p.put(held)
			} else if !p.giveTo(w, held) {
				t.Error("the waiter is not in the queue")
			}
			if c, err := p.wait(ended, w); err == nil {
				p.put(c)
			}
			counters(t, s, 1, 1, 0)
			held, _, _ = p.idleOrWaiter(t.Context(), nil, time.Now())
		}
		s.CheckIn(held)
	})
}

func TestAnEndedContextGetsNoConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, &peer{hello: standalone()}, nil)
		found(t, s, standalone())
		if err := operation(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		var exhausted *CheckOutError
		if err := operation(ended, s); !errors.Is(err, context.Canceled) || !errors.As(err, &exhausted) || exhausted.Out != 0 {
			t.Errorf("error %v", err)
		}
		counters(t, s, 1, 1, 0)
	})
}

func TestAConnectionIdleForTooLongIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, &peer{hello: standalone()}, func(cfg *Config) { cfg.MaxConnIdleTime = time.Minute })
		found(t, s, standalone())
		for _, c := range []struct {
			idle time.Duration
			id   int64
		}{{0, 1}, {time.Minute, 1}, {time.Minute + 1, 2}} {
			pass(t, c.idle)
			conn := checkOut(t, s)
			if conn.ID() != c.id {
				t.Errorf("after %v connection %d is used, want %d", c.idle, conn.ID(), c.id)
			}
			s.CheckIn(conn)
		}
		counters(t, s, 1, 1, 0)
	})
}

func TestTheMostRecentlyUsedConnectionIsUsedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, &peer{hello: standalone()}, nil)
		found(t, s, standalone())
		one, two := checkOut(t, s), checkOut(t, s)
		s.CheckIn(two)
		s.CheckIn(one)
		if c := checkOut(t, s); c != one {
			t.Errorf("connection %d is used, want %d", c.ID(), one.ID())
		}
		s.CheckIn(one)
	})
}

func TestABufferThatGrewBeyondTheLimitIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, &peer{hello: standalone()}, nil)
		found(t, s, standalone())
		c := checkOut(t, s)
		c.Out, c.in = make([]byte, largebuffer.Least+1), messageBuffer{bytes: make([]byte, 0, largebuffer.Least+1)}
		s.CheckIn(c)
		if cap(c.Out) > largebuffer.Least || cap(c.in.bytes) > largebuffer.Least {
			t.Errorf("an idle connection keeps %d and %d bytes", cap(c.Out), cap(c.in.bytes))
		}
		if err := operation(t.Context(), s); err != nil {
			t.Error(err)
		}
	})
}
