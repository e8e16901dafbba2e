package cluster

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
)

// slow makes every dial and every hello take 10 ms.
func slow(t *testing.T) *peer {
	return &peer{
		hello:  standalone(),
		dial:   func(ctx context.Context) error { sleep(ctx, 10*time.Millisecond, nil); return ctx.Err() },
		script: func(q *question) bool { return q.hello && !sleep(t.Context(), 10*time.Millisecond, nil) },
	}
}

func TestAConnectionThatWasBegunIsFinishedForTheNextCheckout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := slow(t)
		s := bare(t, p, nil)
		found(t, s, standalone())
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Millisecond)
		defer cancel()
		if err := operation(ctx, s); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the first operation: %v", err)
		}
		pass(t, 5*time.Millisecond)
		counters(t, s, 1, 1, 0)
		ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := operation(ctx, s); err != nil || p.dialed != 1 {
			t.Errorf("the second operation: %v, after %d dials", err, p.dialed)
		}
	})
}

// Ten callers whose deadlines are shorter than dial and hello together.
func TestCallersWithShortDeadlinesGetConnectionsInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := slow(t)
		s := bare(t, p, nil)
		found(t, s, standalone())
		var callers sync.WaitGroup
		var mu sync.Mutex
		succeeded, failed := 0, 0
		for range 10 {
			callers.Go(func() {
				for range 100 {
					ctx, cancel := context.WithTimeout(t.Context(), 15*time.Millisecond)
					err := operation(ctx, s)
					mu.Lock()
					if err == nil {
						succeeded++
					} else {
						failed++
					}
					mu.Unlock()
					sleep(t.Context(), 5*time.Millisecond, nil)
					cancel()
				}
			})
		}
		callers.Wait()
		if failed > 50 || p.dialed > 12 {
			t.Errorf("%d operations succeeded, %d failed, %d connections were made", succeeded, failed, p.dialed)
		}
	})
}

func TestTheErrorOfAConnectionGoesToTheCheckoutThatBeganIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		s := bare(t, p, func(cfg *Config) { cfg.MaxConnecting = 1 })
		found(t, s, standalone())
		fail := make(chan struct{})
		p.set(func(p *peer) { p.dial = func(context.Context) error { <-fail; return errDown } })
		one := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "the first operation", one)
		two := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "the second operation", two)
		fail <- struct{}{}
		if err := settled(t, "the first operation", one); !errors.Is(err, errDown) {
			t.Errorf("the first operation: %v", err)
		}
		unsettled(t, "the second operation", two) // its own connection is being made now
		p.set(func(p *peer) { p.dial = nil })
		fail <- struct{}{}
		if err := settled(t, "the second operation", two); !errors.Is(err, errDown) {
			t.Errorf("the second operation: %v", err)
		}
		counters(t, s, 0, 0, 0)
	})
}

func TestACheckoutTakesAConnectionThatIsFreeBeforeItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		s := bare(t, p, nil)
		found(t, s, standalone())
		held := checkOut(t, s)
		proceed := make(chan struct{})
		p.set(func(p *peer) { p.dial = func(context.Context) error { <-proceed; return nil } })
		waiting := async(func() *Conn { return checkOut(t, s) })
		unsettled(t, "the checkout", waiting)
		s.CheckIn(held)
		if c := settled(t, "the checkout", waiting); c != held {
			t.Errorf("connection %d is used", c.ID())
		}
		counters(t, s, 2, 0, 1)
		close(proceed)
		synctest.Wait()
		counters(t, s, 2, 1, 0)
		s.CheckIn(held)
	})
}

// A listener delays the interruption of a pending connection, which is made in the meantime.
func TestAConnectionThatIsMadeWhileThePoolIsClearedIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		dialled, cleared := make(chan struct{}), make(chan struct{})
		s := bare(t, p, func(cfg *Config) {
			cfg.PoolMonitor = &event.PoolMonitor{Event: func(e *event.PoolEvent) {
				if e.Type == event.ConnectionPoolCleared {
					<-cleared
				}
			}}
		})
		found(t, s, standalone())
		p.set(func(p *peer) { p.dial = func(context.Context) error { <-dialled; return nil } })
		waiting := async(func() error { return operation(t.Context(), s) })
		unsettled(t, "the checkout", waiting)
		go s.pool.clear(errDown, true).run()
		synctest.Wait()
		close(dialled)
		unsettled(t, "the checkout", waiting) // the event comes first
		close(cleared)
		var want *PoolClearedError
		if err := settled(t, "the checkout", waiting); !errors.As(err, &want) {
			t.Error(err)
		}
		counters(t, s, 0, 0, 0)
		p.wantEnded(t, 0)
	})
}

func TestAConnectionWhoseWaiterLeftIsStaleAfterThePoolIsCleared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		s := bare(t, p, nil)
		found(t, s, standalone())
		proceed := make(chan struct{})
		p.set(func(p *peer) { p.dial = func(context.Context) error { <-proceed; return nil } })
		ctx, cancel := context.WithCancel(t.Context())
		waiting := async(func() error { return operation(ctx, s) })
		unsettled(t, "the checkout", waiting)
		cancel()
		settled(t, "the checkout", waiting)
		s.pool.clear(errDown, false).run()
		close(proceed)
		synctest.Wait()
		counters(t, s, 0, 0, 0)
	})
}
