package cluster

import "go.mongodb.org/mongo-driver/v2/event"

type poolState uint8

const (
	paused poolState = iota
	ready
	closed
)

// created begins the story.
func (p *pool) created() effects {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.then(func() {
		options := &event.MonitorPoolOptions{MaxPoolSize: p.server.cluster.cfg.MaxPoolSize}
		p.emit(event.PoolEvent{Type: event.ConnectionPoolCreated, PoolOptions: options})
	})
	return effects{p.tell}
}

// makeReady lets checkouts happen again. What it returns is done without locks.
func (p *pool) makeReady() effects {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != paused {
		return nil
	}
	p.state, p.cause = ready, nil
	p.then(func() { p.emit(event.PoolEvent{Type: event.ConnectionPoolReady}) })
	return effects{p.tell}
}

// clear makes every connection stale and pauses the pool. With interrupt, connections in use and those being made are
// broken off as well: their server did not answer its monitor, so their operations would wait in vain. What it returns
// is done without locks.
func (p *pool) clear(cause error, interrupt bool) effects {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == closed {
		return nil
	}
	if p.state == ready {
		p.then(func() {
			p.emit(event.PoolEvent{Type: event.ConnectionPoolCleared, Interruption: interrupt, Error: cause})
		})
	}
	p.state, p.cause = paused, cause
	p.generation++
	p.dropIdle(event.ReasonStale)
	cleared := &PoolClearedError{Address: p.server.address, Cause: cause}
	p.failWaiters(cleared)
	if interrupt {
		p.interrupt(cleared)
	}
	return effects{p.tell}
}

// close ends the pool. Connections being made are broken off; those in use are closed when they come back. What it
// returns is done without locks.
func (p *pool) close() effects {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == closed {
		return nil
	}
	p.state = closed
	p.dropIdle(event.ReasonPoolClosed)
	p.then(func() { p.emit(event.PoolEvent{Type: event.ConnectionPoolClosed}) })
	p.failWaiters(ErrPoolClosed)
	p.interruptPending(ErrPoolClosed)
	return effects{p.tell}
}

// interruptAll breaks off what is in use or being made.
func (p *pool) interruptAll() {
	p.mu.Lock()
	p.interrupt(ErrPoolClosed)
	p.mu.Unlock()
	p.tell()
}

// interrupt, and what follows, is called with the lock held.
func (p *pool) interrupt(cause error) {
	for c := range p.open {
		if !c.checkedOut.IsZero() {
			p.then(c.interrupt)
		}
	}
	p.interruptPending(cause)
}

func (p *pool) interruptPending(cause error) {
	for a := range p.pending {
		a.brokenOff = true
		p.then(func() { a.cancel(cause) })
	}
}

func (p *pool) dropIdle(reason string) {
	idle := p.idle
	p.idle = nil
	for _, c := range idle {
		delete(p.open, c)
		p.total--
		p.then(func() { p.closeConn(c, reason) })
	}
}

func (p *pool) failWaiters(err error) {
	for _, w := range p.waiters {
		p.then(func() { w.granted <- grant{err: err} })
	}
	p.waiters = nil
}
