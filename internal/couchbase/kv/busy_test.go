package kv

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// busy returns a connection on which many requests were made until now. From the next one on, the server answers nothing.
func busy(t *testing.T, change func(*Config)) (c *Conn, node *peer) {
	t.Helper()
	silent := false
	s := &server{answer: func(p *peer, r memd.Packet) {
		if node = p; !silent {
			p.send(reply(r))
		}
	}}
	cfg := s.on(t, memnet.New(memnet.Config{MinLatency: 200 * time.Microsecond, MaxLatency: 200 * time.Microsecond}))
	if change != nil {
		change(cfg)
	}
	c = s.connect(t, cfg)
	for began := time.Now(); time.Since(began) < 90*time.Millisecond || !c.isBusy(); {
		var a Reply
		if err := c.RoundTrip(&Request{Opcode: memd.OpNoop}, &a); err != nil {
			t.Fatal(err)
		}
		if time.Since(began) > time.Second {
			t.Fatal("the connection is never busy")
		}
	}
	silent = true
	return c, node
}

func (c *Conn) isBusy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.busy
}

func TestACancelledCallerLeavesAfterManyRequests(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 50 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			c, _ := busy(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			k := begin(c, Request{Opcode: memd.OpNoop, Cancelled: ctx.Done()})
			pass(after)
			cancel()
			k.wantError(t, retry.StageInFlight, ErrCancelled)
			k.wantTook(t, after, after+5*time.Millisecond)
		})
	}
}

func TestADeadlineIsExactAfterManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := busy(t, nil)
		k := begin(c, Request{Opcode: memd.OpNoop, Deadline: soon(3 * time.Millisecond)})
		k.wantError(t, retry.StageInFlight, ErrDeadline)
		k.wantTook(t, 3*time.Millisecond, 3*time.Millisecond)
	})
}

func TestAMapIsToldSoonAfterManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told time.Time
		_, node := busy(t, func(cfg *Config) { cfg.OnMap = func(*Conn, memd.MapVersion, []byte) { told = time.Now() } })
		sent := time.Now()
		node.send(push(memd.MapVersion{Revision: 2}, theMap))
		pass(time.Second)
		synctest.Wait()
		if took := told.Sub(sent); told.IsZero() || took > 25*time.Millisecond {
			t.Errorf("the map was told after %v", took)
		}
	})
}
