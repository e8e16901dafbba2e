package couchbasetest

import (
	"errors"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// changeLocked gives the bucket's map a new version, and tells those who want to know.
func (b *bucket) changeLocked() {
	b.version = b.cluster.nextVersionLocked()
	b.maps = make(map[int][]byte)
	b.cluster.pushLocked(b)
	b.cluster.wakeLocked()
}

// changeNodesLocked gives the maps of the cluster and of all buckets a new version.
func (c *Cluster) changeNodesLocked() {
	c.version = c.nextVersionLocked()
	c.pushLocked(nil)
	for _, b := range c.buckets {
		b.changeLocked()
	}
	c.wakeLocked()
}

// pushLocked tells the clients of a bucket, or those without a bucket if b is nil, that there is a newer map.
func (c *Cluster) pushLocked(b *bucket) {
	if c.noPushes {
		return
	}
	for _, n := range c.nodes {
		for conn := range n.conns {
			if conn.bucket == b && conn.wantsPushes() && !conn.pushing && !c.closed {
				conn.pushing = true
				c.wg.Go(conn.push)
			}
		}
	}
}

// pushAllLocked tells all clients of the newest maps.
func (c *Cluster) pushAllLocked() {
	c.pushLocked(nil)
	for _, b := range c.buckets {
		c.pushLocked(b)
	}
}

func (c *conn) wantsPushes() bool {
	if c.bucket == nil && !c.cluster.profile.mapsWithoutBucket() {
		return false
	}
	return c.user != "" && c.features.Has(memd.FeatureDuplex) && (c.features.Has(memd.FeatureFullMapPush) || c.features.Has(memd.FeatureBriefMapPush))
}

// push tells the client of the newest map, until it knows that.
func (c *conn) push() {
	for {
		if c.node.gate.Wait(c.done) != nil {
			return
		}
		p := c.nextPush()
		if p == nil {
			return
		}
		err := c.out.append(p, -1)
		if errors.Is(err, errSilent) {
			return
		}
		if err != nil || c.out.flush() != nil {
			c.close()
			return
		}
	}
}

// nextPush returns the packet that tells of the newest map, nil if there is none to send.
func (c *conn) nextPush() *memd.Packet {
	cluster := c.cluster
	cluster.mu.Lock()
	defer cluster.mu.Unlock()
	name, version := "", cluster.knownVersion(c.bucket, c.node)
	if c.bucket != nil {
		name = c.bucket.Name
	}
	if !version.Newer(c.told) || cluster.closed {
		c.pushing = false
		return nil
	}
	c.told = version
	p := &memd.Packet{Magic: memd.MagicServerRequest, Opcode: memd.ServerOpClusterMap, Key: []byte(name), Extras: cluster.profile.versionExtras(version)}
	if !c.features.Has(memd.FeatureBriefMapPush) {
		p.Value, p.DataType = cluster.mapLocked(c.bucket, c.node), memd.DataJSON
	}
	return p
}
