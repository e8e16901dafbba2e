package cluster

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/telemetry"
)

type poolState uint8

const (
	paused poolState = iota
	ready
	closed
)

// created reports that the pool was created. The returned effects run after the lock is released.
func (p *pool) created() effects {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notices.add(func() {
		cfg := &p.server.cluster.cfg
		p.tell(telemetry.PoolEvent{Kind: telemetry.PoolCreated, Max: cfg.MaxPoolSize, Min: cfg.MinPoolSize})
	})
	return effects{p.notices.deliver}
}

// makeReady makes a paused pool ready. The returned effects run after the lock is released.
func (p *pool) makeReady() effects {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != paused {
		return nil
	}
	p.state = ready
	generation := p.generations.pool
	p.notices.add(func() { p.tell(telemetry.PoolEvent{Kind: telemetry.PoolReady}) })
	p.notices.add(func() { p.allowFilling(generation) })
	return effects{p.notices.deliver}
}

// allowFilling permits connections for minPoolSize after the event PoolReady, unless the pool was cleared since.
func (p *pool) allowFilling(generation uint64) {
	p.mu.Lock()
	p.mayFill = p.state == ready && p.generations.pool == generation
	p.mu.Unlock()
	p.maintainSoon()
}

// clear makes every connection stale and pauses the pool. With interrupt it also interrupts connections in use and
// pending ones: the server did not answer its monitor, so their operations would not get a reply. The returned
// effects run after the lock is released.
func (p *pool) clear(cause error, interrupt bool) effects {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == closed {
		return nil
	}
	if p.state == ready {
		p.notices.add(func() {
			p.tell(telemetry.PoolEvent{Kind: telemetry.PoolCleared, Interrupted: interrupt, Err: cause})
		})
	}
	p.state, p.cause, p.mayFill = paused, cause, false
	p.generations.advance(bson.NilObjectID)
	p.dropIdle(event.ReasonStale, everyConn)
	cleared := &PoolClearedError{Address: p.server.address, Cause: cause}
	p.failWaiters(cleared)
	if interrupt {
		p.interrupt(fmt.Errorf("connection to %s %w", p.server.address, errMonitorTimeout), cleared)
	}
	return effects{p.notices.deliver}
}

// clearService makes the connections to one service behind a load balancer stale. The pool stays ready. The returned
// effects run after the lock is released.
func (p *pool) clearService(service bson.ObjectID, cause error) effects {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == closed {
		return nil
	}
	p.generations.advance(service)
	p.notices.add(func() {
		p.tell(telemetry.PoolEvent{Kind: telemetry.PoolCleared, Service: service.Hex(), Err: cause})
	})
	p.dropIdle(event.ReasonStale, func(c *Conn) bool { return c.service == service })
	return effects{p.notices.deliver}
}

// close closes the pool. It cancels pending connections. Connections in use are closed when they are checked in. The
// returned effects run after the lock is released.
func (p *pool) close() effects {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == closed {
		return nil
	}
	p.state = closed
	p.dropIdle(event.ReasonPoolClosed, everyConn)
	p.notices.add(func() { p.tell(telemetry.PoolEvent{Kind: telemetry.PoolClosed}) })
	p.failWaiters(ErrPoolClosed)
	p.interruptPending(ErrPoolClosed)
	return effects{p.notices.deliver}
}

// interruptAll interrupts the connections in use and cancels the pending ones.
func (p *pool) interruptAll() {
	p.mu.Lock()
	p.interrupt(ErrDisconnected, ErrPoolClosed)
	p.mu.Unlock()
	p.notices.deliver()
}

// closePinned closes the connections that are pinned, because an application may never end the cursor, the transaction or the
// request that has them. If it does, the check-in finds that its connection was closed.
func (p *pool) closePinned() {
	p.mu.Lock()
	for c := range p.open {
		if c.pinned() {
			p.drop(c, event.ReasonPoolClosed)
		}
	}
	p.mu.Unlock()
	p.notices.deliver()
}

// drop takes an open connection from the pool, and closes it. It is called with the lock held.
func (p *pool) drop(c *Conn, reason string) {
	delete(p.open, c)
	p.gone(c.share)
	p.counts.closed(reason)
	p.generations.leave(c.service)
	p.notices.add(func() { p.closeConn(c, reason) })
}

// interrupt ends the connections in use with the error inUse, and the pending ones with the error pending. It and the functions
// below are called with the lock held.
func (p *pool) interrupt(inUse, pending error) {
	for c := range p.open {
		if !c.checkedOut.IsZero() {
			p.notices.add(func() { c.interrupt(inUse) })
		}
	}
	p.interruptPending(pending)
}

func (p *pool) interruptPending(cause error) {
	for pending := range p.pending {
		pending.cancelled = true
		p.notices.add(func() { pending.cancel(cause) })
	}
}

func everyConn(*Conn) bool { return true }

// dropIdle closes the idle connections for which drop returns true.
func (p *pool) dropIdle(reason string, drop func(*Conn) bool) {
	p.shares(func(s *share) {
		s.idle = slices.DeleteFunc(s.idle, func(c *Conn) bool {
			if !drop(c) {
				return false
			}
			p.drop(c, reason)
			return true
		})
	})
}

// failWaiters gives an error to the waiters, except those with a pending connection: they get its result.
func (p *pool) failWaiters(err error) {
	for w := p.waiters.first; w != nil; {
		failed := w
		if w = w.behind(); !failed.connecting {
			p.dequeue(failed)
			p.notices.add(func() { failed.granted <- grant{err: err} })
		}
	}
}
