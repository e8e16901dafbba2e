package cluster

import (
	"context"
	"time"
)

const drainPoll = 2 * time.Millisecond

// Drain waits until no operation is in flight; when ctx ends it breaks off those that are.
func (c *Cluster) Drain(ctx context.Context) {
	for c.Busy() {
		if !sleep(ctx, drainPoll, nil) {
			c.Interrupt()
			return
		}
	}
}
