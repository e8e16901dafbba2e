package cluster

import (
	"context"
	"time"
)

// EndSelections makes selections fail that would have to wait for a server, from now on.
func (c *Cluster) EndSelections() { c.endSelections() }

const drainPoll = 2 * time.Millisecond

// Drain waits until no operation is in flight. If ctx ends first, or a listener blocks an operation, it stops the monitors
// and interrupts the connections in use and the pending ones: from then on Closed returns true, so that no operation is
// retried.
func (c *Cluster) Drain(ctx context.Context) {
	c.listeners.ending()
	for c.Busy() {
		if !sleep(ctx, drainPoll, nil) || c.listeners.block() {
			c.stopBackground(ErrPoolClosed)
			c.Interrupt()
			return
		}
	}
}
