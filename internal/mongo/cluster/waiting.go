package cluster

import (
	"context"
	"time"
)

// waiter is a checkout in the wait queue. It gets one grant.
type waiter struct {
	granted    chan grant
	since      time.Time
	prompt     time.Time // it is late after that; zero: never
	late       bool      // it is in the queue of those
	connecting bool      // a connection was begun for it
	share      *share
	links      [2]link
}

// queued reports whether the waiter is in the queue of its pool.
func (w *waiter) queued() bool { return w.links[ofPool].queued }

// behind returns the next waiter of the pool.
func (w *waiter) behind() *waiter { return w.links[ofPool].behind }

// enqueue lets a waiter wait for a connection of a share. It is called with the lock held.
func (p *pool) enqueue(w *waiter, s *share) {
	w.share = s
	p.waiters.push(w)
	s.waiters.push(w)
}

// dequeue removes a waiter. It returns false if it does not wait. It is called with the lock held.
func (p *pool) dequeue(w *waiter) bool {
	if !p.waiters.remove(w) {
		return false
	}
	if w.connecting {
		p.connecting--
	}
	w.queue().remove(w)
	p.dropUnused(w.share)
	return true
}

// grant is a connection or an error.
type grant struct {
	conn *Conn
	err  error
}

func (p *pool) wait(ctx context.Context, w *waiter) (*Conn, error) {
	after, tooLate := p.queueLimit(ctx)
	var limit <-chan time.Time
	if tooLate != nil {
		timer := time.NewTimer(after)
		defer timer.Stop()
		limit = timer.C
	}
	var cause error
	for cause == nil {
		select {
		case g := <-w.granted:
			return g.conn, g.err
		case <-ctx.Done():
			cause = context.Cause(ctx)
		case <-limit:
			if !p.connectsFor(w) {
				cause = tooLate
			}
		}
	}
	p.leaveQueue(w)
	p.mu.Lock()
	err := p.exhausted(cause, w.since)
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

// queueLimit returns the longest time that a checkout may wait in the queue, with the error after it. The error is nil if only the
// context limits the wait. A deadline replaces waitQueueTimeoutMS, but not the server selection timeout, which limits the
// checkout too (Client Side Operations Timeout, "Server Selection").
func (p *pool) queueLimit(ctx context.Context) (after time.Duration, tooLate error) {
	cfg := &p.server.cluster.cfg
	deadline, ok := ctx.Deadline()
	switch {
	case ok && time.Until(deadline) <= cfg.ServerSelectionTimeout:
		return 0, nil
	case !ok && cfg.WaitQueueTimeout > 0 && cfg.WaitQueueTimeout <= cfg.ServerSelectionTimeout:
		return cfg.WaitQueueTimeout, errWaitQueueTimeout
	}
	return cfg.ServerSelectionTimeout, errCheckOutTimeout
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
	p.counts.timedOut++
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
