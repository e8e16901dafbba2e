package cluster

import (
	"fmt"
	"hash/maphash"
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

// Learn takes a map that came from an address, if it is newer than the current one. It reports whether the bytes are a map of this
// bucket; one that is not newer is. Many callers may bring the same map at the same time: it is read once.
func (b *Bucket) Learn(body []byte, address string) bool {
	b.learning.Lock()
	defer b.learning.Unlock()
	sum := maphash.Bytes(learnSeed, body)
	if b.learnt == (learnt{sum, address}) {
		return true
	}
	m, err := parseMap(body, address)
	if err != nil || !b.take(m, address) {
		return false
	}
	b.learnt = learnt{sum, address}
	return true
}

// learnt names the map that was learnt last: the hash of its bytes, and where it came from.
type learnt struct {
	sum     uint64
	address string
}

var learnSeed = maphash.MakeSeed()

// take publishes a map if it may take the place of the current one. It reports false if the map is not one of this bucket.
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
		b.cluster.closeAnswered(l)
	}
	b.cluster.publish(s)
	return true
}
