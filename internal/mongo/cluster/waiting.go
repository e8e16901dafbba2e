package cluster

import (
	"context"
	"slices"
	"time"
)

// waiter is a checkout in the wait queue. It gets one grant.
type waiter struct{ granted chan grant }

// grant is a connection, an error, or (if both are nil) the permission to make a connection.
type grant struct {
	conn *Conn
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
	case g := <-w.granted: // the grant came when ctx ended; it must not be lost
		p.giveBack(g)
	default:
	}
	return nil, err
}

// exhausted returns the error of a checkout whose context ended. It is called with the lock held.
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

// giveBack returns an unused grant to the pool.
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

// serveWaiters gives waiters the permission to connect as far as the limits allow. It is called with the lock held.
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
