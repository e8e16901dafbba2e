package cluster

import (
	"context"
	"time"
)

const drainPoll = 2 * time.Millisecond

// Drain waits until no operation is in flight. If ctx ends first, it interrupts the connections in use.
func (c *Cluster) Drain(ctx context.Context) {
	for c.Busy() {
		if !sleep(ctx, drainPoll, nil) {
			c.Interrupt()
			return
		}
	}
}
