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

// SetPassword changes the administrator's password, which must not be empty. Connections that are logged in stay so; requests to the HTTP
// services need the new one at once.
func (c *Cluster) SetPassword(password string) {
	if password == "" {
		panic("couchbasetest: SetPassword: the password is empty")
	}
	c.set(func() { c.password, c.stored = password, nil })
}

func (c *Cluster) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	c.wakeLocked()
}
