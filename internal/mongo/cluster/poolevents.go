package cluster

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/logging"
)

// observed reports whether anybody gets the pool's events: a listener or the log.
func (p *pool) observed() bool {
	cfg := &p.server.cluster.cfg
	return cfg.PoolMonitor != nil && cfg.PoolMonitor.Event != nil || cfg.Log.Enabled(logging.Connection, logging.Debug)
}

// emit calls the listener and writes the log message. It is never called with a lock held.
func (p *pool) emit(e event.PoolEvent) {
	if !p.observed() {
		return
	}
	e.Address = p.server.address
	cfg := &p.server.cluster.cfg
	if cfg.PoolMonitor != nil && cfg.PoolMonitor.Event != nil {
		defer p.tell(&e) // after the log, also if its sink panics
	}
	if cfg.Log.Enabled(logging.Connection, logging.Debug) {
		cfg.Log.Log(logging.Connection, logging.Debug, poolMessages[e.Type], logging.Endpoint(cfg.poolFields(&e), e.Address)...)
	}
}

// tell calls the listener.
func (p *pool) tell(e *event.PoolEvent) {
	defer p.server.cluster.listeners.begin().Add(-1)
	p.server.cluster.cfg.PoolMonitor.Event(e)
}

// poolMessages are the log messages of the pool's events (Connection Monitoring and Pooling, "Connection Pool Logging").
var poolMessages = map[string]string{
	event.ConnectionPoolCreated:     "Connection pool created",
	event.ConnectionPoolReady:       "Connection pool ready",
	event.ConnectionPoolCleared:     "Connection pool cleared",
	event.ConnectionPoolClosed:      "Connection pool closed",
	event.ConnectionCreated:         "Connection created",
	event.ConnectionReady:           "Connection ready",
	event.ConnectionClosed:          "Connection closed",
	event.ConnectionCheckOutStarted: "Connection checkout started",
	event.ConnectionCheckOutFailed:  "Connection checkout failed",
	event.ConnectionCheckedOut:      "Connection checked out",
	event.ConnectionCheckedIn:       "Connection checked in",
}

// closedReasons and failedReasons are the texts for the reasons of the events ConnectionClosed and ConnectionCheckOutFailed.
var (
	closedReasons = map[string]string{
		event.ReasonStale:      "Connection became stale because the pool was cleared",
		event.ReasonIdle:       "Connection has been available but unused for longer than the configured max idle time",
		event.ReasonError:      "An error occurred while using the connection",
		event.ReasonPoolClosed: "Connection pool was closed",
	}
	failedReasons = map[string]string{
		event.ReasonTimedOut:          "Wait queue timeout elapsed without a connection becoming available",
		event.ReasonConnectionErrored: "An error occurred while trying to establish a new connection",
		event.ReasonPoolClosed:        "Connection pool was closed",
	}
)

// poolFields returns the fields of an event's log message, without those of the server.
func (c *Config) poolFields(e *event.PoolEvent) []any {
	var fields []any
	if e.ConnectionID != 0 {
		fields = append(fields, "driverConnectionId", e.ConnectionID)
	}
	switch e.Type {
	case event.ConnectionPoolCreated:
		return append(fields, c.poolOptions()...)
	case event.ConnectionPoolCleared:
		if e.ServiceID != nil {
			fields = append(fields, "serviceId", e.ServiceID.Hex())
		}
	case event.ConnectionReady, event.ConnectionCheckedOut:
		fields = append(fields, "durationMS", logging.Milliseconds(e.Duration))
	case event.ConnectionClosed:
		fields = append(fields, "reason", closedReasons[e.Reason])
	case event.ConnectionCheckOutFailed:
		fields = append(fields, "reason", failedReasons[e.Reason], "durationMS", logging.Milliseconds(e.Duration))
	}
	if e.Error != nil {
		fields = append(fields, "error", e.Error.Error())
	}
	return fields
}

// poolOptions returns the fields that describe the options of a pool.
func (c *Config) poolOptions() []any {
	size := c.MaxPoolSize
	if size >= math.MaxInt64 {
		size = 0 // no limit
	}
	fields := []any{
		"maxIdleTimeMS", logging.Milliseconds(c.MaxConnIdleTime), "minPoolSize", int64(c.MinPoolSize), "maxPoolSize", int64(size),
		"maxConnecting", int64(c.MaxConnecting),
	}
	if c.WaitQueueTimeout > 0 {
		fields = append(fields, "waitQueueTimeoutMS", logging.Milliseconds(c.WaitQueueTimeout))
	}
	return fields
}
