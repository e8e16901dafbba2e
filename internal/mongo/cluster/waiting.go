package cluster

import (
	"context"
	"slices"
	"time"
)

// waiter is a checkout that waits: for a connection, or for the right to make one, or for the pool's end.
type waiter struct{ granted chan grant }

type grant struct {
	conn *Conn // nil: make one
	err  error
}

func (p *pool) wait(ctx context.Context, w *waiter, start time.Time) (*Conn, error) {
	select {
	case g := <-w.granted:
		return g.conn, g.err
	case <-ctx.Done():
	}
	p.mu.Lock()
	if i := slices.Index(p.waiters, w); i >= 0 {
		p.waiters = slices.Delete(p.waiters, i, i+1)
	}
	err := p.exhausted(context.Cause(ctx), start)
	p.mu.Unlock()
	select {
	case g := <-w.granted: // it came at the last moment and must not be lost
		p.giveBack(g)
	default:
	}
	return nil, err
}

// exhausted is called with the lock held.
func (p *pool) exhausted(cause error, start time.Time) error {
	now := time.Now()
	e := &CheckOutError{
		Address: p.server.address, Limit: p.server.cluster.cfg.MaxPoolSize, Waited: now.Sub(start), Err: cause,
		Connecting: p.connecting,
	}
	for c := range p.open {
		if !c.checkedOut.IsZero() {
			e.Out++
			e.LongestUse = max(e.LongestUse, now.Sub(c.checkedOut))
		}
	}
	return e
}

// giveBack undoes a grant.
func (p *pool) giveBack(g grant) {
	switch {
	case g.err != nil:
	case g.conn != nil:
		p.put(g.conn)
	default:
		p.mu.Lock()
		p.total--
		p.connecting--
		p.serveWaiters()
		p.mu.Unlock()
	}
}

// serveWaiters is called with the lock held, when the right to connect may have become free.
func (p *pool) serveWaiters() {
	for p.state == ready && len(p.waiters) > 0 && p.mayConnect() {
		p.total++
		p.connecting++
		p.nextWaiter().granted <- grant{}
	}
}

func (p *pool) nextWaiter() *waiter {
	w := p.waiters[0]
	p.waiters[0] = nil
	p.waiters = p.waiters[1:]
	return w
}
