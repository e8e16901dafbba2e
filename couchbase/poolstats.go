package couchbase

import "github.com/holdfast-db/holdfast/telemetry"

// PoolStats returns what the client knows now of its connections: for each service of each node to which it has or had some, by address and
// service, but for key-value nodes that have left the cluster. The connections of all buckets to a node are counted together. A key-value
// connection is in use while an operation waits for its answer, one to another service until the answer was read. Waiting operations, and their
// times, are counted for the other services only: many key-value operations share a connection. It uses no network. It is safe for concurrent
// use, also after Close.
func (c *Cluster) PoolStats() []telemetry.Pool { return c.pools.Stats() }

// tellOpened tells the tracer of the cluster. A panic of it leaves nothing open.
func (c *Cluster) tellOpened() {
	if c.tracer == nil {
		return
	}
	c.told = telemetry.Client{System: telemetry.Couchbase, Pools: c.PoolStats, Limits: func() telemetry.Limits {
		return telemetry.Limits{Breakers: c.cluster.Breakers()}
	}}
	if c.tracer.ClientOpened == nil {
		return
	}
	returned := false
	defer func() {
		if !returned {
			c.end()
		}
	}()
	c.tracer.ClientOpened(&c.told)
	returned = true
}

// tellClosed tells the tracer that nothing of the cluster runs any more.
func (c *Cluster) tellClosed() {
	if c.tracer != nil && c.tracer.ClientClosed != nil {
		c.tracer.ClientClosed(&c.told)
	}
}
