package cluster

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// In an overload, connections go to those who have time left. Without LateLast the order is that in which they came.
func TestWhoIsLateIsServedLast(t *testing.T) {
	const tick = 10 * time.Millisecond
	for _, c := range []struct {
		name  string
		begin func(context.Context) context.Context
		limit []time.Duration // of each waiter; they come one tick after the other; 0: none
		after time.Duration   // when the connection comes free for the first time, and then at each tick
		want  []int           // the order in which they are served
	}{
		{"nobody is late", LateLast, []time.Duration{20 * tick, 20 * tick, 20 * tick}, 5 * tick, []int{0, 1, 2}},
		{"the first is late", LateLast, []time.Duration{9 * tick, 20 * tick, 20 * tick}, 5 * tick, []int{1, 2, 0}},
		{"of the late the last is first", LateLast, []time.Duration{9 * tick, 9 * tick, 20 * tick}, 7 * tick, []int{2, 1, 0}},
		{"without a deadline nobody is late", LateLast, []time.Duration{0, 20 * tick, 0}, 15 * tick, []int{0, 2, 1}},
		{"one gets late", LateLast, []time.Duration{20 * tick, 13 * tick, 20 * tick}, 7 * tick, []int{0, 2, 1}},
		{"the order of a client", func(ctx context.Context) context.Context { return ctx }, []time.Duration{9 * tick, 20 * tick, 20 * tick}, 5 * tick, []int{0, 1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := bare(t, loginPeer(nil), func(cfg *Config) { cfg.MaxPoolSize = 1 })
				found(t, s, standalone())
				u := plainUser(t, "ann")
				held := checkOutFor(t, s, u)
				served := make(chan int, len(c.limit))
				began := time.Now()
				for i, limit := range c.limit {
					ctx := c.begin(t.Context())
					if limit > 0 {
						limited, cancel := context.WithDeadline(ctx, began.Add(limit))
						defer cancel()
						ctx = limited
					}
					go func() {
						conn, err := s.CheckOut(ctx, u)
						if err != nil {
							t.Errorf("waiter %d: %v", i, err)
							return
						}
						served <- i
						<-time.After(tick / 10)
						s.CheckIn(conn)
					}()
					pass(t, tick/100)
				}
				pass(t, time.Until(began.Add(c.after)))
				s.CheckIn(held)
				var got []int
				for range c.limit {
					got = append(got, <-served)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("they are served in the order %v, want %v", got, c.want)
				}
				pass(t, tick)
				counters(t, s, 1, 1, 0)
				users(t, s, 1)
			})
		})
	}
}

// A late waiter may leave, and its user is forgotten with it; it may also be one for whom a connection is made.
func TestALateWaiterLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, loginPeer(nil), func(cfg *Config) { cfg.MaxPoolSize = 1 })
		found(t, s, standalone())
		ann, bob := plainUser(t, "ann"), plainUser(t, "bob")
		held := checkOutFor(t, s, ann)
		ctx, cancel := context.WithTimeout(LateLast(t.Context()), 100*time.Millisecond)
		defer cancel()
		left := async(func() error { _, err := s.CheckOut(ctx, ann); return err })
		pass(t, time.Millisecond)
		prompt := async(func() *Conn { return checkOutFor(t, s, ann) })
		pass(t, 60*time.Millisecond)
		s.CheckIn(held)
		held = <-prompt // the other one was found to be late
		if err := <-left; !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		s.CheckIn(held)
		s.CheckIn(checkOutFor(t, s, bob)) // the pool makes room
		pass(t, time.Second)
		users(t, s, 1)
		counters(t, s, 1, 1, 0)
		if n := s.pool.waiters.length; n != 0 {
			t.Errorf("%d wait", n)
		}
	})
}

// A late waiter keeps its user's share, although nobody else of that user waits and the last connection has broken: the connection that is made
// for it is the user's afterwards.
func TestALateWaiterKeepsTheShareOfItsUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, loginPeer(nil), func(cfg *Config) { cfg.MaxPoolSize = 1 })
		found(t, s, standalone())
		ann := plainUser(t, "ann")
		held := checkOutFor(t, s, ann)
		ctx, cancel := context.WithTimeout(LateLast(t.Context()), 100*time.Millisecond)
		defer cancel()
		late := async(func() *Conn {
			c, err := s.CheckOut(ctx, ann)
			if err != nil {
				t.Error(err)
			}
			return c
		})
		pass(t, time.Millisecond)
		prompt := async(func() *Conn { return checkOutFor(t, s, ann) })
		pass(t, 60*time.Millisecond)
		s.CheckIn(held)
		broken := settled(t, "the prompt checkout", prompt)
		_ = broken.Broken(errors.New("a test"))
		s.CheckIn(broken)
		own := settled(t, "the late checkout", late)
		s.CheckIn(own)
		if c := checkOutFor(t, s, ann); c != own {
			t.Error("the connection of the late one is not its user's")
		} else {
			s.CheckIn(c)
		}
		users(t, s, 1)
		counters(t, s, 1, 1, 0)
	})
}
