package cluster

import (
	"fmt"
	"net"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// parseMap reads a map that came from an address.
func parseMap(body []byte, address string) (*clustermap.Map, error) {
	if len(body) == 0 {
		return nil, errNoMap
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	m, err := clustermap.Parse(body, host)
	if err != nil {
		return nil, fmt.Errorf("the cluster map of %s: %w", address, err)
	}
	return m, nil
}

// Learn takes a map that came from an address, if it is newer than the one in hand. It reports whether the bytes are a map of this
// bucket; one that is not newer is.
func (b *Bucket) Learn(body []byte, address string) bool {
	m, err := parseMap(body, address)
	if err != nil {
		return false
	}
	return b.take(m, address)
}

// take publishes a map if it may take the place of the one in hand. It reports false if the map is not one of this bucket.
func (b *Bucket) take(m *clustermap.Map, address string) bool {
	b.mu.Lock()
	if b.closed || m.HasBucket() && m.Bucket != b.name {
		b.mu.Unlock()
		return false
	}
	var old *clustermap.Map
	if s := b.snapshot.Load(); s != nil {
		old = s.Map
	}
	if err := m.Supersedes(old); err != nil {
		b.mu.Unlock()
		return clustermap.IsNotNewer(err)
	}
	if b.network == "" {
		b.network = networkOf(m, address)
	}
	s, left := b.publish(m)
	b.mu.Unlock()
	for _, l := range left {
		l.conn.Close(errLeft)
	}
	b.cluster.publish(s)
	return true
}
