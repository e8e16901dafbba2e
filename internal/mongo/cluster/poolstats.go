package cluster

import (
	"maps"
	"math"
	"time"

	"github.com/holdfast-db/holdfast/telemetry"
)

// poolCounts are the counters of a pool. Its lock guards them.
type poolCounts struct {
	made, failed, timedOut uint64
	closedBy               map[string]uint64 // by the reason
}

func (c *poolCounts) closed(reason string) {
	if c.closedBy == nil {
		c.closedBy = make(map[string]uint64)
	}
	c.closedBy[reason]++
}

// Pools returns what is known of the pool of each server, in the order of the topology.
func (c *Cluster) Pools() []telemetry.Pool {
	servers := c.snapshot.Load().servers
	pools := make([]telemetry.Pool, 0, len(servers))
	for _, s := range servers {
		pools = append(pools, s.pool.stats(time.Now()))
	}
	return pools
}

func (p *pool) stats(now time.Time) telemetry.Pool {
	cfg := &p.server.cluster.cfg
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := p.idleConns()
	s := telemetry.Pool{
		Address: p.server.address, Ready: p.state == ready,
		InUse: len(p.open) - idle, Idle: idle, Pending: len(p.pending), Waiting: p.waiters.length,
		Min: limit(cfg.MinPoolSize), Max: limit(cfg.MaxPoolSize),
		Made: p.counts.made, Failed: p.counts.failed, Closed: maps.Clone(p.counts.closedBy), TimedOut: p.counts.timedOut,
	}
	if first := p.waiters.first; first != nil {
		s.OldestWait = now.Sub(first.since)
	}
	s.LongestWait = max(p.waiters.longest, s.OldestWait)
	return s
}

// limit returns a size as an int; one that is too large is no limit.
func limit(size uint64) int {
	if size >= math.MaxInt {
		return 0
	}
	return int(size)
}
