package cluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
)

// pendingConn is a pending connection: one that is being made (Connection Monitoring and Pooling, "pending").
type pendingConn struct {
	id         int64
	generation uint64
	cancel     context.CancelCauseFunc
	cancelled  bool // the pool has called cancel, or is about to
}

// create makes a connection. The permission came from idleOrPermission or from a grant.
func (p *pool) create(ctx context.Context) (*Conn, error) {
	dialling, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pending, err := p.beginPending(cancel)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	p.emit(event.PoolEvent{Type: event.ConnectionCreated, ConnectionID: pending.id})
	c, _, err := p.server.connect(dialling, pending.id)
	if err == nil {
		p.emit(event.PoolEvent{Type: event.ConnectionReady, ConnectionID: pending.id, Duration: time.Since(start)})
		if p.finishPending(pending, c) {
			p.server.cluster.handshakeSucceeded(p.server, pending.generation, c.Description)
			return c, nil
		}
		<-dialling.Done() // the event of the cleared or closed pool comes first
		c.close()
		err = context.Cause(dialling)
	}
	return nil, p.failPending(ctx, dialling, pending, err)
}

// beginPending adds a pending connection and numbers it. It fails if the pool was cleared or closed after the
// permission.
func (p *pool) beginPending(cancel context.CancelCauseFunc) (*pendingConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != ready {
		p.total--
		p.connecting--
		return nil, p.unready()
	}
	p.lastID++
	pending := &pendingConn{id: p.lastID, generation: p.generations.pool, cancel: cancel}
	p.pending[pending] = struct{}{}
	return pending, nil
}

// finishPending makes a pending connection an open one. It returns false if the pool has cancelled it.
func (p *pool) finishPending(pending *pendingConn, c *Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pending.cancelled {
		return false
	}
	c.generation, c.checkedOut = pending.generation, c.lastUsed
	if c.service = c.Description.ServiceID; !c.service.IsZero() {
		c.generation = p.generations.of(c.service)
	}
	delete(p.pending, pending)
	p.connecting--
	p.open[c] = struct{}{}
	p.serveWaiters()
	return true
}

// failPending removes a pending connection that failed and returns the error. The topology is not told if the
// caller's context or the pool ended it, because that shows nothing about the server.
func (p *pool) failPending(ctx, dialling context.Context, pending *pendingConn, err error) error {
	switch {
	case ctx.Err() != nil:
	case dialling.Err() != nil:
		err = context.Cause(dialling)
	default:
		p.server.cluster.handshakeFailed(p.server, pending.generation, err)
	}
	p.emit(event.PoolEvent{Type: event.ConnectionClosed, ConnectionID: pending.id, Reason: event.ReasonError, Error: err})
	p.mu.Lock()
	delete(p.pending, pending)
	p.mu.Unlock()
	p.giveBack(grant{})
	return err
}
