package cluster

import (
	"context"
	"sync"

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
	c := p.server.cluster
	if c.pooled == nil {
		return
	}
	defer c.listeners.begin().Add(-1)
	e.System, e.Address = telemetry.MongoDB, p.server.address
	if !c.recycles {
		kept := e
		c.pooled(ctx, &kept)
		return
	}
	told := toldEvents.Get().(*telemetry.PoolEvent)
	*told = e
	c.pooled(ctx, told)
	toldEvents.Put(told)
}

// toldEvents recycles the events that nobody keeps.
var toldEvents = sync.Pool{New: func() any { return new(telemetry.PoolEvent) }}

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
