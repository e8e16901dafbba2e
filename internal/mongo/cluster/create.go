package cluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
)

// pendingConn is a connection that is being made.
type pendingConn struct {
	id         int64
	generation uint64
	cancel     context.CancelCauseFunc
	brokenOff  bool // by the pool: cancel was called, or will be
}

// create makes a connection. The right to do so came from connOrRight or from a grant.
func (p *pool) create(ctx context.Context) (*Conn, error) {
	dialling, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a, err := p.begin(cancel)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	p.emit(event.PoolEvent{Type: event.ConnectionCreated, ConnectionID: a.id})
	c, _, err := p.server.connect(dialling, a.id)
	if err == nil {
		p.emit(event.PoolEvent{Type: event.ConnectionReady, ConnectionID: a.id, Duration: time.Since(start)})
		if p.made(a, c) {
			p.server.cluster.handshakeSucceeded(p.server, a.generation, c.Description)
			return c, nil
		}
		<-dialling.Done() // the listener hears first of the pool that was cleared or closed
		c.close()
		err = context.Cause(dialling)
	}
	return nil, p.notMade(ctx, dialling, a, err)
}

// begin numbers a new connection, unless the pool's state has changed since there was a right to make it.
func (p *pool) begin(cancel context.CancelCauseFunc) (*pendingConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != ready {
		p.total--
		p.connecting--
		return nil, p.unready()
	}
	p.lastID++
	a := &pendingConn{id: p.lastID, generation: p.generations.pool, cancel: cancel}
	p.pending[a] = struct{}{}
	return a, nil
}

// made takes a new connection in, unless it was broken off in the meantime.
func (p *pool) made(a *pendingConn, c *Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.brokenOff {
		return false
	}
	c.generation, c.checkedOut = a.generation, c.lastUsed
	if c.service = c.Description.ServiceID; !c.service.IsZero() {
		c.generation = p.generations.of(c.service)
	}
	delete(p.pending, a)
	p.connecting--
	p.open[c] = struct{}{}
	p.serveWaiters()
	return true
}

// notMade ends the making of a connection and returns its error. What the caller's context or the pool itself
// broke off says nothing about the server.
func (p *pool) notMade(ctx, dialling context.Context, a *pendingConn, err error) error {
	switch {
	case ctx.Err() != nil:
	case dialling.Err() != nil:
		err = context.Cause(dialling)
	default:
		p.server.cluster.handshakeFailed(p.server, a.generation, err)
	}
	p.emit(event.PoolEvent{Type: event.ConnectionClosed, ConnectionID: a.id, Reason: event.ReasonError, Error: err})
	p.mu.Lock()
	delete(p.pending, a)
	p.mu.Unlock()
	p.giveBack(grant{})
	return err
}
