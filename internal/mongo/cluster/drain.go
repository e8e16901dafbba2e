package cluster

import (
	"context"
	"time"
)

const drainPoll = 2 * time.Millisecond

// Drain waits until no operation is in flight. If ctx ends first, it stops the monitors and interrupts the connections in
// use and the pending ones: from then on Closed returns true, so that no operation is retried.
func (c *Cluster) Drain(ctx context.Context) {
	for c.Busy() {
		if !sleep(ctx, drainPoll, nil) {
			c.stopBackground(ErrPoolClosed)
			c.Interrupt()
			return
		}
	}
}
