package cluster

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/logging"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// loggedSelect selects a server and writes the messages of Server Selection, "Logging".
func (c *Cluster) loggedSelect(ctx context.Context, want *topology.Selection, p Purpose, other *PendingCheck) (Target, error) {
	began := time.Now()
	c.logSelection(logging.Debug, "Server selection started", want, p)
	t, err := c.selectServer(ctx, want, other, func() { c.logWaiting(ctx, want, p, began) })
	var failed *SelectionError
	switch {
	case err == nil:
		c.logSelection(logging.Debug, "Server selection succeeded", want, p, logging.Endpoint(nil, t.Server.address)...)
	case errors.As(err, &failed): // without its explanation, which is in the other fields
		c.logSelection(logging.Debug, "Server selection failed", want, p, "failure", failed.Err.Error())
	default:
		c.logSelection(logging.Debug, "Server selection failed", want, p, "failure", err.Error())
	}
	return t, err
}

// logWaiting writes once for an operation that a selection waits, and how long it may wait.
func (c *Cluster) logWaiting(ctx context.Context, want *topology.Selection, p Purpose, began time.Time) {
	if p.Waited != nil {
		if *p.Waited {
			return
		}
		*p.Waited = true
	}
	remaining := c.cfg.ServerSelectionTimeout - time.Since(began)
	if deadline, ok := ctx.Deadline(); ok {
		remaining = min(remaining, time.Until(deadline))
	}
	c.logSelection(logging.Info, "Waiting for suitable server to become available", want, p,
		"remainingTimeMS", logging.Milliseconds(remaining))
}

func (c *Cluster) logSelection(level options.LogLevel, message string, want *topology.Selection, p Purpose, fields ...any) {
	if !c.cfg.Log.Enabled(logging.ServerSelection, level) {
		return
	}
	fields = append(fields, "selector", want.String(), "operation", p.Operation, "topologyDescription", c.snapshot.Load().Description.String())
	if p.ID != 0 {
		fields = append(fields, "operationId", p.ID)
	}
	c.cfg.Log.Log(logging.ServerSelection, level, message, fields...)
}
