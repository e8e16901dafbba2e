package cluster

import (
	"context"
	"time"
)

// waiter is a checkout in the wait queue. It gets one grant.
type waiter struct {
	granted    chan grant
	connecting bool // a connection was begun for it
}

// grant is a connection or an error.
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
	p.leaveQueue(w)
	p.mu.Lock()
	err := p.exhausted(context.Cause(ctx), start)
	p.mu.Unlock()
	select {
	case g := <-w.granted: // the grant came when ctx ended; a connection must not be lost
		if g.conn != nil {
			p.put(g.conn)
		}
	default:
	}
	return nil, err
}

// exhausted returns the error of a checkout whose context ended. It is called with the lock held.
func (p *pool) exhausted(cause error, start time.Time) error {
	now := time.Now()
	e := &CheckOutError{
		Address: p.server.address, Limit: p.server.cluster.cfg.MaxPoolSize, Waited: now.Sub(start), Err: cause,
		Connecting: len(p.pending),
	}
	for c := range p.open {
		if !c.checkedOut.IsZero() {
			e.Out++
			e.Uses[c.use.Load()]++
			e.LongestUse = max(e.LongestUse, now.Sub(c.checkedOut))
		}
	}
	return e
}

func (p *pool) nextWaiter() *waiter {
	w := p.waiters[0]
	p.waiters[0] = nil
	p.waiters = p.waiters[1:]
	return w
}
