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
	limit, stop := p.queueLimit(ctx)
	defer stop()
	var cause error
	for cause == nil {
		select {
		case g := <-w.granted:
			return g.conn, g.err
		case <-ctx.Done():
			cause = context.Cause(ctx)
		case <-limit:
			if !p.connectsFor(w) {
				cause = errWaitQueueTimeout
			}
		}
	}
	p.leaveQueue(w)
	p.mu.Lock()
	err := p.exhausted(cause, start)
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

// queueLimit returns a channel that gets a value when a checkout has waited for WaitQueueTimeout, nil if that does not count.
func (p *pool) queueLimit(ctx context.Context) (limit <-chan time.Time, stop func()) {
	after := p.server.cluster.cfg.WaitQueueTimeout
	if _, ok := ctx.Deadline(); ok || after == 0 {
		return nil, func() {}
	}
	timer := time.NewTimer(after)
	return timer.C, func() { timer.Stop() }
}

// connectsFor reports whether a connection was begun for a waiter. It has left the wait queue in the specification's sense: only
// the connect timeout limits the rest of its wait (Connection Monitoring and Pooling, "waitQueueTimeoutMS").
func (p *pool) connectsFor(w *waiter) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return w.connecting
}

// exhausted returns the error of a checkout that ended without a connection. It is called with the lock held.
func (p *pool) exhausted(cause error, start time.Time) error {
	now := time.Now()
	e := &CheckOutError{
		Address: p.server.address, Limit: p.server.cluster.cfg.MaxPoolSize, Waited: now.Sub(start), Err: cause,
		Connecting: len(p.pending), Failed: p.failed, LoadBalanced: p.server.cluster.cfg.Topology.LoadBalanced,
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
