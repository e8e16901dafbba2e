package cluster

import (
	"context"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
)

// pool is the connections of one server (Connection Monitoring and Pooling). It starts paused; the monitor makes it
// ready.
type pool struct {
	server *Server

	mu          sync.Mutex
	state       poolState
	generations generations
	cause       error   // of the last time that the pool was cleared
	idle        []*Conn // of the current generation; the most recently used last
	open        map[*Conn]struct{}
	pending     map[*pendingConn]struct{}
	total       uint64 // open, being made, or about to be
	connecting  uint64 // being made or about to be
	lastID      int64
	waiters     []*waiter
	notices     notices
}

// checkOut returns a connection that is the caller's until it is checked in.
func (p *pool) checkOut(ctx context.Context) (*Conn, error) {
	start := time.Now()
	observed := p.observed()
	if observed {
		p.emit(event.PoolEvent{Type: event.ConnectionCheckOutStarted})
	}
	c, err := p.acquire(ctx, start)
	switch {
	case !observed:
	case err != nil:
		p.emit(event.PoolEvent{
			Type: event.ConnectionCheckOutFailed, Reason: checkOutFailure(err), Error: err, Duration: time.Since(start),
		})
	default:
		p.emit(event.PoolEvent{Type: event.ConnectionCheckedOut, ConnectionID: c.id, Duration: time.Since(start)})
	}
	return c, err
}

func (p *pool) acquire(ctx context.Context, start time.Time) (*Conn, error) {
	for {
		c, w, err := p.connOrRight(ctx, start)
		if w != nil {
			c, err = p.wait(ctx, w, start)
		}
		if err != nil {
			return nil, err
		}
		if c == nil {
			return p.create(ctx)
		}
		if reason := p.unusable(c, start); reason != "" {
			p.discard(c, reason)
			continue
		}
		return c, nil
	}
}

// connOrRight returns an idle connection; or nothing, which is the right to make one; or a waiter. If the context has
// ended it returns an error, because the context would only break the connection.
func (p *pool) connOrRight(ctx context.Context, now time.Time) (*Conn, *waiter, error) {
	ended := ctx.Err() != nil
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != ready {
		return nil, nil, p.unready()
	}
	if ended {
		return nil, nil, p.exhausted(context.Cause(ctx), now)
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		c.checkedOut = now
		return c, nil, nil
	}
	if p.mayConnect() {
		p.total++
		p.connecting++
		return nil, nil, nil
	}
	w := &waiter{granted: make(chan grant, 1)}
	p.waiters = append(p.waiters, w)
	return nil, w, nil
}

// unready is called with the lock held and returns why there are no checkouts.
func (p *pool) unready() error {
	if p.state == closed {
		return ErrPoolClosed
	}
	return &PoolClearedError{Address: p.server.address, Cause: p.cause}
}

// mayConnect is asked with the lock held.
func (p *pool) mayConnect() bool {
	cfg := &p.server.cluster.cfg
	return (cfg.MaxPoolSize == 0 || p.total < cfg.MaxPoolSize) && p.connecting < cfg.MaxConnecting
}

// checkIn takes a connection back.
func (p *pool) checkIn(c *Conn) {
	if p.observed() {
		p.emit(event.PoolEvent{Type: event.ConnectionCheckedIn, ConnectionID: c.id})
	}
	if !c.Reusable() {
		p.discard(c, event.ReasonError)
		return
	}
	c.dropLargeBuffers()
	c.lastUsed = time.Now()
	p.put(c)
}

// put makes a connection available again.
func (p *pool) put(c *Conn) {
	p.mu.Lock()
	if reason := p.stale(c); reason != "" {
		p.mu.Unlock()
		p.discard(c, reason)
		return
	}
	if len(p.waiters) > 0 {
		c.checkedOut = c.lastUsed
		p.nextWaiter().granted <- grant{conn: c}
	} else {
		c.checkedOut = time.Time{}
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
}

// stale is called with the lock held and returns why the connection can serve no more, if so.
func (p *pool) stale(c *Conn) string {
	switch {
	case p.state == closed:
		return event.ReasonPoolClosed
	case c.generation != p.generations.of(c.service):
		return event.ReasonStale
	default:
		return ""
	}
}

// unusable returns why a connection that was idle cannot be used, if so. It is of the current generation: those that
// are not leave the idle ones when the pool is cleared.
func (p *pool) unusable(c *Conn, now time.Time) string {
	limit := p.server.cluster.cfg.MaxConnIdleTime
	switch {
	case limit > 0 && now.Sub(c.lastUsed) > limit:
		return event.ReasonIdle
	case !c.usable(now):
		return event.ReasonError
	default:
		return ""
	}
}

// discard closes a connection that is checked out. Only then may another take its place.
func (p *pool) discard(c *Conn, reason string) {
	p.closeConn(c, reason)
	p.mu.Lock()
	delete(p.open, c)
	p.total--
	p.serveWaiters()
	p.mu.Unlock()
}

func (p *pool) closeConn(c *Conn, reason string) {
	p.emit(event.PoolEvent{Type: event.ConnectionClosed, ConnectionID: c.id, Reason: reason})
	c.close()
}

// generation returns a service's current generation, that of the pool if service is zero.
func (p *pool) generation(service bson.ObjectID) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.generations.of(service)
}
