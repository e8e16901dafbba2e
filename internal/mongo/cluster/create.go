package cluster

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/telemetry"
)

// pendingConn is a pending connection: one that is being made (Connection Monitoring and Pooling, "pending").
type pendingConn struct {
	id         int64
	generation uint64
	share      *share
	waiter     *waiter // the checkout that gets the connection or the error, if it still waits; nil for minPoolSize
	cancel     context.CancelCauseFunc
	cancelled  bool // the pool has called cancel, or is about to
}

// connectForWaiters begins a connection for each waiter, as far as the limits allow, or makes room for one. No connection is
// begun for as many of them as will get one that was begun for minPoolSize. A pool that is not ready has no waiter for which
// none was begun. It is called with the lock held.
func (p *pool) connectForWaiters() {
	expected := p.filling
	for w := p.waiters.first; w != nil; w = w.behind() {
		switch {
		case w.connecting:
		case expected > 0 && w.share == p.own:
			expected--
		case !p.mayConnect():
			p.yieldOwing()
			p.yieldIdle()
			return
		default:
			w.connecting = true
			p.connecting++
			p.begin(w, w.share)
		}
	}
}

// mayConnect reports whether the limits allow one more pending connection. It is called with the lock held.
func (p *pool) mayConnect() bool {
	cfg := &p.server.cluster.cfg
	return (cfg.MaxPoolSize == 0 || p.total < cfg.MaxPoolSize) && uint64(len(p.pending)) < cfg.MaxConnecting
}

// begin begins a connection in a goroutine of its own, without the caller's context: a connection that was begun is
// finished, or reaches the connect timeout, although its checkout has ended. Otherwise callers with short deadlines would
// begin connections for ever and finish none. It is called with the lock held.
//
//nolint:contextcheck,nolintlint // see above
func (p *pool) begin(w *waiter, s *share) {
	ctx, cancel := context.WithCancelCause(p.server.cluster.backgroundCtx)
	p.lastID++
	p.added(s)
	pending := &pendingConn{id: p.lastID, generation: p.generations.pool, waiter: w, share: s, cancel: cancel}
	p.pending[pending] = struct{}{}
	if w == nil {
		p.filling++
	}
	p.server.cluster.background.Go(func() {
		defer cancel(nil)
		p.connect(ctx, pending)
	})
}

// connect makes a pending connection and gives it to its waiter or to the pool.
func (p *pool) connect(ctx context.Context, pending *pendingConn) {
	start := time.Now()
	p.tell(telemetry.PoolEvent{Kind: telemetry.ConnectionCreated, ID: pending.id})
	cfg := &p.server.cluster.cfg
	c, err := p.server.connect(ctx, pending.id, opening{auth: pending.share.authenticator(cfg.Auth), limit: cfg.SocketTimeout})
	if err == nil {
		p.tell(telemetry.PoolEvent{Kind: telemetry.ConnectionReady, ID: pending.id, Took: time.Since(start)})
		if p.finish(pending, c) {
			p.server.cluster.handshakeSucceeded(p.server, pending.generation, c.Description)
			if !p.giveTo(pending.waiter, c) {
				p.put(c)
			}
			p.done(pending) // only now: a waiter that gets this connection needs no other
			p.connectMore()
			return
		}
		<-ctx.Done() // the event of the cleared or closed pool comes first
		c.close()
		p.leaveService(c.service)
	}
	p.fail(ctx, pending, err)
}

// finish makes a pending connection an open one. It returns false if the pool has cancelled it.
func (p *pool) finish(pending *pendingConn, c *Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pending.cancelled {
		return false
	}
	c.share, c.checkedOut, c.lazy = pending.share, c.lastUsed, isPlain(c.nc)
	if c.service.IsZero() {
		c.generation = pending.generation
	}
	delete(p.pending, pending)
	p.open[c], p.failed = struct{}{}, nil
	p.counts.made++
	return true
}

// done counts a connection that was begun for minPoolSize no longer: the pool has it, or it has failed.
func (p *pool) done(pending *pendingConn) {
	if pending.waiter == nil {
		p.mu.Lock()
		p.filling--
		p.mu.Unlock()
	}
}

// connectMore uses the limits again after a connection was made or closed.
func (p *pool) connectMore() {
	p.mu.Lock()
	p.connectForWaiters()
	p.mu.Unlock()
	p.maintainSoon()
}

// fail removes a pending connection that failed, and gives the error to its waiter. The topology is not told if the pool
// has cancelled the connection, because that shows nothing about the server.
func (p *pool) fail(ctx context.Context, pending *pendingConn, err error) {
	waits := p.leaveQueue(pending.waiter) // before the pool is cleared, which has an error of its own for waiters
	var failed *HandshakeError
	refused := errors.As(err, &failed)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case p.serves(pending.share) && refusesUser(err): // that shows nothing about the server
	default:
		p.setFailed(err)
		p.server.cluster.handshakeFailed(p.server, pending.generation, err)
		if refused && pending.waiter != nil && p.server.checkedEarly() {
			failed.Check.hurry()
		}
	}
	if refused {
		p.leaveService(failed.service)
	}
	p.tell(telemetry.PoolEvent{Kind: telemetry.ConnectionClosed, ID: pending.id, Reason: event.ReasonError, Err: err})
	p.done(pending)
	p.mu.Lock()
	delete(p.pending, pending)
	p.gone(pending.share)
	p.counts.failed++
	p.connectForWaiters()
	p.mu.Unlock()
	if waits {
		pending.waiter.granted <- grant{err: err}
	}
}

// setFailed notes the error of a connection for checkouts that end without one.
func (p *pool) setFailed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = err
}

// giveTo gives a connection to a waiter. It returns false if the waiter has left the queue.
func (p *pool) giveTo(w *waiter, c *Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dequeue(w) {
		return false
	}
	w.granted <- grant{conn: c} // under the lock: a waiter that is not in the queue has its grant
	return true
}

// leaveQueue removes a waiter from the wait queue. It returns false if the waiter was not there.
func (p *pool) leaveQueue(w *waiter) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dequeue(w)
}
