package mongo

import "github.com/holdfast-db/holdfast/telemetry"

// PoolStats returns what the client knows now of its connection pools, one for each server that it knows. It uses no network. It is safe for concurrent
// use, also after Disconnect. Package telemetry/health makes a health check for net/http of it.
func (c *Client) PoolStats() []telemetry.Pool { return c.runner.Cluster().Pools() }
