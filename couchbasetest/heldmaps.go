package couchbasetest

import (
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// heldMap is a map that a node does not give up for newer ones.
type heldMap struct {
	version memd.MapVersion
	json    []byte
}

// HoldMaps makes a node serve the cluster maps that it knows now, and learn of no newer ones. Its vbuckets move nevertheless.
func (c *Cluster) HoldMaps(node int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeLocked("HoldMaps", node)
	held := map[*bucket]heldMap{nil: {c.version, c.mapLocked(nil, n)}}
	for _, b := range c.buckets {
		held[b] = heldMap{b.version, c.mapLocked(b, n)}
	}
	n.maps = held
}

// ReleaseMaps ends HoldMaps: the node learns of the newest maps, and tells its clients.
func (c *Cluster) ReleaseMaps(node int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodeLocked("ReleaseMaps", node).maps = nil
	c.pushAllLocked()
}

// SetPushes changes whether nodes tell their clients of newer maps. At the beginning they do. Clients that are not told learn of a
// newer map when they ask, or when a request is refused.
func (c *Cluster) SetPushes(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noPushes = !on; on {
		c.pushAllLocked()
	}
}

// PublishMap gives the map of a bucket a new version in which nothing else is new.
func (c *Cluster) PublishMap(bucketName string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bucketLocked("PublishMap", bucketName).changeLocked()
}

// knownVersion returns the version of the map of a bucket, or of the cluster if b is nil, that a node knows.
func (c *Cluster) knownVersion(b *bucket, at *node) memd.MapVersion {
	if held, ok := at.maps[b]; ok {
		return held.version
	}
	if b == nil {
		return c.version
	}
	return b.version
}
