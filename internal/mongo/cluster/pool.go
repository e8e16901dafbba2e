package cluster

import (
	"context"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/telemetry"
)

// pool is the connection pool of one server (Connection Monitoring and Pooling). It starts paused; the monitor makes
// it ready.
type pool struct {
	server *Server

	mu          sync.Mutex
	state       poolState
	generations generations
	cause       error  // the error that cleared the pool last
	failed      error  // of the connection that was begun last; nil if it was made
	own         *share // of the user of Config.Auth, or of none
	others      map[*User]*share
	open        map[*Conn]struct{}
	pending     map[*pendingConn]struct{}
	mayFill     bool    // the listener has got PoolReady, so connections may be made for minPoolSize
	filling     int     // connections that were begun for minPoolSize and that no waiter could get yet
	total       uint64  // open and pending connections
	owing       []*Conn // those whose late reply is read in the background, the oldest first
	yielding    int     // those of them that are being closed for waiters
	lastID      int64
	waiters     waitQueue
	connecting  int // those of them for whom a connection was begun
	counts      poolCounts
	maintenance chan struct{} // requests for maintenance; nil if nothing is maintained
	notices     notices

	checkoutBegan *telemetry.PoolEvent // always the same; nil if not all only look
}

// checkOut returns a connection that only the caller uses until it is checked in.
func (p *pool) checkOut(ctx context.Context, u *User) (*Conn, error) {
	start := time.Now()
	if !p.observed() {
		return p.acquire(ctx, u, start)
	}
	p.emitBegan(ctx)
	c, err := p.acquire(ctx, u, start)
	if err != nil {
		p.emit(ctx, telemetry.PoolEvent{Kind: telemetry.CheckoutFailed, Reason: checkOutFailure(err), Err: err, Took: time.Since(start)})
		return nil, err
	}
	told := false
	defer func() {
		if !told { // a listener panicked
			p.checkIn(c)
		}
	}()
	p.emitUse(ctx, c, telemetry.CheckedOut, max(0, c.checkedOut.Sub(start))) // whoever gave it back may have read the clock before
	told = true
	return c, nil
}

func (p *pool) acquire(ctx context.Context, u *User, start time.Time) (*Conn, error) {
	for {
		c, w, err := p.idleOrWaiter(ctx, u, start)
		if w != nil {
			c, err = p.wait(ctx, w)
		}
		if err != nil {
			return nil, err
		}
		reason := p.unusable(c, start)
		if reason == "" {
			return c, nil
		}
		p.discard(c, reason)
	}
}

// idleOrWaiter returns an idle connection of the user, or a waiter for the next one. If ctx has ended it returns an error, because ctx
// would only break the connection.
func (p *pool) idleOrWaiter(ctx context.Context, u *User, now time.Time) (*Conn, *waiter, error) {
	ended := ctx.Err() != nil
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != ready {
		return nil, nil, p.unready()
	}
	if ended {
		return nil, nil, p.exhausted(context.Cause(ctx), now)
	}
	s := p.shareOf(u)
	if n := len(s.idle); n > 0 {
		c := s.idle[n-1]
		s.idle = s.idle[:n-1]
		c.checkedOut = now
		return c, nil, nil
	}
	w := &waiter{granted: make(chan grant, 1), since: now, prompt: promptUntil(ctx, now)}
	p.enqueue(w, s)
	p.connectForWaiters()
	return nil, w, nil
}

// unready returns the error of a checkout from a pool that is not ready. It is called with the lock held.
func (p *pool) unready() error {
	if p.state == closed {
		return ErrPoolClosed
	}
	return &PoolClearedError{Address: p.server.address, Cause: p.cause}
}

// checkIn makes a connection available again, or closes it if it cannot be used again.
func (p *pool) checkIn(c *Conn) {
	now := time.Now()
	defer p.takeBack(c, now) // also if a listener panics
	if p.observed() {
		p.emitUse(p.server.cluster.toldCtx, c, telemetry.CheckedIn, now.Sub(c.checkedOut))
	}
}

func (p *pool) takeBack(c *Conn, now time.Time) {
	switch {
	case !c.sound():
		p.discard(c, event.ReasonError)
	case c.owed != 0:
		p.readOwed(c)
	default:
		p.makeAvailable(c, now)
	}
}

// makeAvailable makes a connection available that was used until now.
func (p *pool) makeAvailable(c *Conn, now time.Time) {
	c.dropLargeBuffers()
	c.lastUsed = now
	p.put(c)
}

// put gives a connection to the first waiter of its user, or makes it idle. It closes a stale one, and one whose place another user needs.
func (p *pool) put(c *Conn) {
	p.mu.Lock()
	if reason := p.stale(c); reason != "" {
		p.mu.Unlock()
		p.discard(c, reason)
		return
	}
	w, yields := p.next(c)
	switch {
	case yields:
		p.yields(c)
		p.mu.Unlock()
		p.discard(c, event.ReasonIdle)
		return
	case w != nil:
		p.dequeue(w)
		c.checkedOut = c.lastUsed
		w.granted <- grant{conn: c}
	default:
		c.checkedOut = time.Time{}
		c.share.idle = append(c.share.idle, c)
	}
	p.mu.Unlock()
}

// stale returns the reason why the connection must be closed, or "". It is called with the lock held.
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

// unusable returns the reason why a connection that was idle cannot be used, or "". It does not check the generation:
// clearing the pool closes idle connections.
func (p *pool) unusable(c *Conn, now time.Time) string {
	if p.tooOld(c, now) {
		return event.ReasonIdle
	}
	checked := false
	defer func() {
		if !checked { // the application's net.Conn panicked
			p.discard(c, event.ReasonError)
		}
	}()
	usable := c.usable(now)
	checked = true
	if !usable {
		p.server.requestCheck() // perhaps the server has died while nobody used it
		return event.ReasonError
	}
	return ""
}

// stillUsable reports whether a connection that stayed checked out may be used again.
func (p *pool) stillUsable(c *Conn, now time.Time) bool {
	p.mu.Lock()
	reason := p.stale(c)
	p.mu.Unlock()
	return reason == "" && c.Reusable() && c.usable(now)
}

// discard closes a connection that is checked out. Only after that may another one be made in its place. It does nothing if
// closePinned has closed the connection.
func (p *pool) discard(c *Conn, reason string) {
	if !p.remove(c, reason) {
		return
	}
	defer p.forget(c) // also if a listener panics
	p.closeConn(c, reason)
}

// remove takes a connection from the open ones. It returns false if it is not one of them.
func (p *pool) remove(c *Conn, reason string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, open := p.open[c]
	if open {
		delete(p.open, c)
		p.counts.closed(reason)
	}
	return open
}

// forget counts a connection no longer that was removed and closed.
func (p *pool) forget(c *Conn) {
	p.mu.Lock()
	p.gone(c.share)
	if c.yields {
		p.yielding--
	}
	p.generations.leave(c.service)
	p.mu.Unlock()
	p.connectMore()
}

func (p *pool) closeConn(c *Conn, reason string) {
	defer c.close() // also if a listener panics
	p.tell(telemetry.PoolEvent{Kind: telemetry.ConnectionClosed, ID: c.id, Reason: reason, Err: c.closeError(reason)})
}

// readyGeneration returns the current generation, and whether the pool is ready.
func (p *pool) readyGeneration() (uint64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.generations.pool, p.state == ready
}

// joinService gives a connection that has got its hello the generation of its service, if it has one. A service that is
// cleared during the login makes it stale.
func (p *pool) joinService(c *Conn) {
	if !p.server.cluster.cfg.Topology.LoadBalanced {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c.service = c.Description.ServiceID
	c.generation = p.generations.join(c.service)
}

// leaveService counts one connection less of a service. A zero service has none.
func (p *pool) leaveService(service bson.ObjectID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.generations.leave(service)
}

// generation returns the current generation of a service, or that of the pool if service is zero.
func (p *pool) generation(service bson.ObjectID) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.generations.of(service)
}
