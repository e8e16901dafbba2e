package cluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/telemetry"
)

// observed reports whether anybody gets the pool's events: a tracer, the log or a listener.
func (p *pool) observed() bool { return p.server.cluster.pooled != nil }

// tell is emit for what no operation waits for.
func (p *pool) tell(e telemetry.PoolEvent) { p.emit(p.server.cluster.toldCtx, e) }

// emit tells what happened. It is never called with a lock held.
func (p *pool) emit(ctx context.Context, e telemetry.PoolEvent) {
	if !p.observed() {
		return
	}
	kept := e
	kept.System, kept.Address = telemetry.MongoDB, p.server.address
	p.publish(ctx, &kept)
}

// emitBegan tells that an operation asks for a connection. If all only look, one event stands for all.
func (p *pool) emitBegan(ctx context.Context) {
	if p.server.cluster.passive {
		p.publish(ctx, p.checkoutBegan)
		return
	}
	p.emit(ctx, telemetry.PoolEvent{Kind: telemetry.CheckoutBegan})
}

// emitUse tells that an operation got a connection or gave it back. If all only look, the connection has one event for all of its own.
func (p *pool) emitUse(ctx context.Context, c *Conn, kind telemetry.PoolEventKind, took time.Duration) {
	e := c.told
	if e == nil {
		e = &telemetry.PoolEvent{System: telemetry.MongoDB, Address: p.server.address, ID: c.id}
		if p.server.cluster.passive {
			c.told = e
		}
	}
	e.Kind, e.Took = kind, took
	p.publish(ctx, e)
}

// publish gives an event to whoever listens.
func (p *pool) publish(ctx context.Context, e *telemetry.PoolEvent) {
	c := p.server.cluster
	if !c.passive {
		defer c.listeners.begin().Add(-1)
	}
	c.pooled(ctx, e)
}

// poolMonitored returns the tracer that publishes the events of pools (Connection Monitoring and Pooling), nil without a listener.
func poolMonitored(m *event.PoolMonitor) *telemetry.Tracer {
	if m == nil || m.Event == nil {
		return nil
	}
	return &telemetry.Tracer{Pool: func(_ context.Context, e *telemetry.PoolEvent) { m.Event(poolEvent(e)) }}
}

// poolEventTypes are the official driver's names of the events.
var poolEventTypes = [...]string{
	telemetry.PoolCreated: event.ConnectionPoolCreated, telemetry.PoolReady: event.ConnectionPoolReady,
	telemetry.PoolCleared: event.ConnectionPoolCleared, telemetry.PoolClosed: event.ConnectionPoolClosed,
	telemetry.ConnectionCreated: event.ConnectionCreated, telemetry.ConnectionReady: event.ConnectionReady,
	telemetry.ConnectionClosed: event.ConnectionClosed, telemetry.CheckoutBegan: event.ConnectionCheckOutStarted,
	telemetry.CheckoutFailed: event.ConnectionCheckOutFailed, telemetry.CheckedOut: event.ConnectionCheckedOut,
	telemetry.CheckedIn: event.ConnectionCheckedIn,
}

// poolEvent returns an event in the form of the official driver.
func poolEvent(e *telemetry.PoolEvent) *event.PoolEvent {
	made := &event.PoolEvent{
		Type: poolEventTypes[e.Kind], Address: e.Address, ConnectionID: e.ID, Reason: e.Reason, Error: e.Err, Interruption: e.Interrupted,
	}
	switch e.Kind { //nolint:exhaustive // the others have no more
	case telemetry.PoolCreated:
		made.PoolOptions = &event.MonitorPoolOptions{MaxPoolSize: e.Max, MinPoolSize: e.Min}
	case telemetry.PoolCleared:
		if id, err := bson.ObjectIDFromHex(e.Service); err == nil {
			made.ServiceID = &id
		}
	case telemetry.ConnectionReady, telemetry.CheckoutFailed, telemetry.CheckedOut: // that of a check in is no part of the official event
		made.Duration = e.Took
	}
	return made
}
