package couchbasetest

import (
	"context"
	"sync/atomic"
)

// activity counts the key-value requests that are being executed.
type activity struct {
	running atomic.Int64
	waiters atomic.Int64
}

// begin notes that a request is being executed. The returned function notes its end.
func (c *Cluster) begin() (end func()) {
	c.activity.running.Add(1)
	return func() {
		if c.activity.running.Add(-1) == 0 && c.activity.waiters.Load() > 0 {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.wakeLocked()
		}
	}
}

// WaitIdle waits until no key-value request is being executed: those that have come were answered or their connections have ended, and no
// durable write waits for its replicas. What a client has sent and a node has not read yet does not count.
func (c *Cluster) WaitIdle(ctx context.Context) error {
	c.activity.waiters.Add(1)
	defer c.activity.waiters.Add(-1)
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if c.activity.running.Load() == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
