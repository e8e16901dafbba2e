package cluster

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// The statistics of a pool through its life.
func TestPoolStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		s := bare(t, p, func(cfg *Config) { cfg.MaxPoolSize, cfg.MinPoolSize = 2, 0 })
		var waiting <-chan error
		var held []*Conn
		for _, step := range []struct {
			name string
			do   func()
			want string
		}{
			{"at the beginning", func() {}, "ready false, 0 in use, 0 idle, 0 pending, 0 waiting, made 0, failed 0, closed map[], timed out 0, waits 0s 0s"},
			{"a connection in use", func() {
				found(t, s, standalone())
				held = append(held, checkOut(t, s))
			}, "ready true, 1 in use, 0 idle, 0 pending, 0 waiting, made 1, failed 0, closed map[], timed out 0, waits 0s 0s"},
			{"a second one is idle", func() {
				s.CheckIn(checkOut(t, s))
			}, "ready true, 1 in use, 1 idle, 0 pending, 0 waiting, made 2, failed 0, closed map[], timed out 0, waits 0s 0s"},
			{"a caller waits", func() {
				held = append(held, checkOut(t, s))
				waiting = async(func() error { return operation(t.Context(), s) })
				pass(t, 3*time.Second)
			}, "ready true, 2 in use, 0 idle, 0 pending, 1 waiting, made 2, failed 0, closed map[], timed out 0, waits 3s 3s"},
			{"a caller has left", func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := operation(ctx, s); err == nil {
					t.Error("no error")
				}
			}, "ready true, 2 in use, 0 idle, 0 pending, 1 waiting, made 2, failed 0, closed map[], timed out 1, waits 4s 4s"},
			{"a cleared pool", func() {
				s.pool.clear(errors.New("lost"), false).run()
				if err := settled(t, "the wait", waiting); err == nil {
					t.Error("no error")
				}
			}, "ready false, 2 in use, 0 idle, 0 pending, 0 waiting, made 2, failed 0, closed map[], timed out 1, waits 0s 4s"},
			{"the connections come back", func() {
				s.CheckIn(held[0])
				s.CheckIn(held[1])
			}, "ready false, 0 in use, 0 idle, 0 pending, 0 waiting, made 2, failed 0, closed map[stale:2], timed out 1, waits 0s 4s"},
			{"no connection can be made", func() {
				found(t, s, standalone())
				p.set(func(p *peer) { p.dial = func(context.Context) error { return errDown } })
				if err := operation(t.Context(), s); err == nil {
					t.Error("no error")
				}
			}, "ready true, 0 in use, 0 idle, 0 pending, 0 waiting, made 2, failed 1, closed map[stale:2], timed out 1, waits 0s 4s"},
			{"one breaks", func() {
				p.set(func(p *peer) { p.dial = nil })
				c := checkOut(t, s)
				_ = c.Broken(errors.New("lost"))
				s.CheckIn(c)
			}, "ready true, 0 in use, 0 idle, 0 pending, 0 waiting, made 3, failed 1, closed map[error:1 stale:2], timed out 1, waits 0s 4s"},
		} {
			step.do()
			synctest.Wait()
			x := s.cluster.Pools()[0]
			got := fmt.Sprintf("ready %v, %d in use, %d idle, %d pending, %d waiting, made %d, failed %d, closed %v, timed out %d, waits %v %v",
				x.Ready, x.InUse, x.Idle, x.Pending, x.Waiting, x.Made, x.Failed, x.Closed, x.TimedOut, x.OldestWait, x.LongestWait)
			if got != step.want {
				t.Errorf("%s: %s; want %s", step.name, got, step.want)
			}
			if x.Address != addrA || x.Min != 0 || x.Max != 2 {
				t.Errorf("the pool is %+v", x)
			}
		}
	})
}
