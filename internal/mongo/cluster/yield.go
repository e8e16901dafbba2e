package cluster

import (
	"go.mongodb.org/mongo-driver/v2/event"
)

// mostPassed is how many connections pass the first waiter, because the waiters of their own user take them, before one of them is closed for
// it. Another connection costs a handshake and a login.
const mostPassed = 8

// next returns the waiter that gets a connection which is free now. It returns nil if there is none, and whether the connection must be closed then,
// because the first waiter of another user needs its place.
func (p *pool) next(c *Conn) (w *waiter, yields bool) {
	w = c.share.first(c.lastUsed)
	if p.others == nil {
		return w, false
	}
	first := p.firstUnserved()
	switch {
	case first == nil || first.share == c.share || !p.needsPlace():
	case w == nil:
		return nil, true
	case first.share.passed < mostPassed:
		first.share.passed++
	case first.share.total == 0 || first.share.total+1 < c.share.total: // otherwise they have as many as they can have
		first.share.passed = 0
		return nil, true
	}
	return w, false
}

// firstUnserved returns the waiter that has waited longest of those for whom no connection is on its way. It returns nil if there is none.
func (p *pool) firstUnserved() *waiter {
	w := p.waiters.first
	for w != nil && w.connecting {
		w = w.behind()
	}
	return w
}

// needsPlace reports whether a connection must be closed before one is begun for a waiter.
func (p *pool) needsPlace() bool {
	cfg := &p.server.cluster.cfg
	return cfg.MaxPoolSize != 0 && p.total >= cfg.MaxPoolSize && uint64(len(p.pending)+p.yielding) < cfg.MaxConnecting
}

// yieldIdle closes the idle connection that was not used for the longest time, if a waiter of another user needs its place. It is called
// with the lock held.
func (p *pool) yieldIdle() {
	if p.others == nil || p.firstUnserved() == nil || !p.needsPlace() {
		return
	}
	var oldest *share // the first idle connection of a share is the one that was not used for the longest time
	p.shares(func(s *share) {
		if len(s.idle) > 0 && (oldest == nil || s.idle[0].lastUsed.Before(oldest.idle[0].lastUsed)) {
			oldest = s
		}
	})
	if oldest == nil {
		return
	}
	c := oldest.idle[0]
	oldest.idle = oldest.idle[1:]
	p.yields(c)
	p.server.cluster.background.Go(func() { p.discard(c, event.ReasonIdle) }) // not under the lock: it tells listeners
}

// yields marks a connection that is closed for a waiter.
func (p *pool) yields(c *Conn) {
	c.yields = true
	p.yielding++
}
