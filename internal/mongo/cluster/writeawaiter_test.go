package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// awaiter is a connection that misses every reply: its wait ends at the deadline only.
type awaiter struct {
	*memnet.Conn
	deadline time.Time
	waits    int
}

func (a *awaiter) SetDeadline(t time.Time) error {
	a.deadline = t
	return a.Conn.SetDeadline(t)
}

func (a *awaiter) WriteAndAwait(b []byte) (int, error) {
	a.waits++
	n, err := a.Write(b)
	sleep(context.Background(), time.Until(a.deadline), nil)
	return n, err
}

// A wait that misses the reply costs the rest of the delay, and no more.
func TestAWriteThatAwaitsHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := memnet.Pipe()
		defer client.Close()
		a := &awaiter{Conn: client}
		c := newConn(a, 1, addrA)
		c.lazy = true
		go func() {
			for {
				if _, err := wire.ReadMessage(server, nil, wire.MaxMessageLength); err != nil {
					return
				}
				server.Write(msg(7, []byte{5, 0, 0, 0, 0}))
			}
		}()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for i := range 3 {
			began := time.Now()
			if err := ping(ctx, c); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > watchDelay || a.waits != i+1 {
				t.Errorf("ping %d took %v, with %d waits", i, took, a.waits)
			}
		}
	})
}

// Without a deadline nothing would end the wait; and a message that has no reply is not awaited.
func TestAWriteThatDoesNotAwait(t *testing.T) {
	client, server := memnet.Pipe()
	defer client.Close()
	a := &awaiter{Conn: client}
	c := newConn(a, 1, addrA)
	go func() {
		for {
			m, err := wire.ReadMessage(server, nil, wire.MaxMessageLength)
			if err != nil {
				return
			}
			if h, err := wire.ParseHeader(m); err == nil && h.RequestID == 7 {
				server.Write(msg(7, []byte{5, 0, 0, 0, 0}))
			}
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, do := range map[string]func() error{
		"a context that cannot end": func() error { return ping(context.Background(), c) },
		"a context that is watched": func() error { return ping(ctx, c) },
		"a message without a reply": func() error {
			c.lazy = true
			defer func() { c.lazy = false }()
			return c.Send(ctx, msg(8, []byte{5, 0, 0, 0, 0}))
		},
	} {
		if err := do(); err != nil || a.waits != 0 {
			t.Errorf("%s: %d waits, %v", name, a.waits, err)
		}
	}
}
