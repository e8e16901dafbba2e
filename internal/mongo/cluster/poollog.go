package cluster

import (
	"context"
	"math"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/logging"
	"github.com/holdfast-db/holdfast/telemetry"
)

// poolLogged returns the tracer that writes the events of pools to the log, nil if the log does not have them.
func poolLogged(cfg *Config) *telemetry.Tracer {
	if !cfg.Log.Enabled(logging.Connection, logging.Debug) {
		return nil
	}
	return &telemetry.Tracer{Pool: func(_ context.Context, e *telemetry.PoolEvent) {
		cfg.Log.Log(logging.Connection, logging.Debug, poolMessages[e.Kind], logging.Endpoint(cfg.poolFields(e), e.Address)...)
	}}
}

// poolMessages are the log messages of the pool's events (Connection Monitoring and Pooling, "Connection Pool Logging").
var poolMessages = [...]string{
	telemetry.PoolCreated:       "Connection pool created",
	telemetry.PoolReady:         "Connection pool ready",
	telemetry.PoolCleared:       "Connection pool cleared",
	telemetry.PoolClosed:        "Connection pool closed",
	telemetry.ConnectionCreated: "Connection created",
	telemetry.ConnectionReady:   "Connection ready",
	telemetry.ConnectionClosed:  "Connection closed",
	telemetry.CheckoutBegan:     "Connection checkout started",
	telemetry.CheckoutFailed:    "Connection checkout failed",
	telemetry.CheckedOut:        "Connection checked out",
	telemetry.CheckedIn:         "Connection checked in",
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
func (c *Config) poolFields(e *telemetry.PoolEvent) []any {
	var fields []any
	if e.ID != 0 {
		fields = append(fields, "driverConnectionId", e.ID)
	}
	switch e.Kind { //nolint:exhaustive // the others have no more
	case telemetry.PoolCreated:
		return append(fields, c.poolOptions()...)
	case telemetry.PoolCleared:
		if e.Service != "" {
			fields = append(fields, "serviceId", e.Service)
		}
	case telemetry.ConnectionReady, telemetry.CheckedOut:
		fields = append(fields, "durationMS", logging.Milliseconds(e.Took))
	case telemetry.ConnectionClosed:
		fields = append(fields, "reason", closedReasons[e.Reason])
	case telemetry.CheckoutFailed:
		fields = append(fields, "reason", failedReasons[e.Reason], "durationMS", logging.Milliseconds(e.Took))
	}
	if e.Err != nil {
		fields = append(fields, "error", e.Err.Error())
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
