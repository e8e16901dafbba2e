package couchbasetest

import "time"

// SetReplicationLag changes how long a write takes to a replica, see [ReplicationLag], also for those on their way.
func (c *Cluster) SetReplicationLag(lag time.Duration) {
	c.set(func() { c.lag = max(lag, 0) })
}

// SetPersistenceLag changes how long a write takes to disk, see [PersistenceLag], also for those on their way.
func (c *Cluster) SetPersistenceLag(lag time.Duration) {
	c.set(func() { c.saving = max(lag, 0) })
}

// SetBareRefusals changes whether nodes refuse requests for vbuckets that they do not have without the map, see [BareRefusals].
func (c *Cluster) SetBareRefusals(bare bool) {
	c.set(func() { c.bareRefusals = bare })
}

func (c *Cluster) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	c.wakeLocked()
}
