package cluster

import (
	"errors"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

var errLeft = errors.New("the node has left the cluster map")

// publish makes a map the newest one, and returns the connections to nodes that have left. b.mu is held.
func (b *Bucket) publish(m *clustermap.Map) (*Snapshot, []*link) {
	old := b.snapshot.Load()
	s := &Snapshot{Map: m, Network: b.network, Endpoints: make([]*Endpoint, len(m.Nodes))}
	kept := make(map[string]*Endpoint)
	for i := range m.Nodes {
		address, ok := m.Nodes[i].Address(s.Network, clustermap.KeyValue, b.cluster.TLS())
		if !ok || !m.HasBucket() || !m.Nodes[i].HasData {
			continue
		}
		e := kept[address]
		if e == nil {
			e = b.endpointAt(address)
			kept[address] = e
		}
		s.Endpoints[i] = e
	}
	var left []*link
	for address, e := range b.endpoints {
		if kept[address] == nil {
			if l := e.leave(errLeft); l != nil {
				left = append(left, l)
			}
		}
	}
	b.endpoints = kept
	if m.HasBucket() {
		b.err, b.missing = nil, false
	}
	b.snapshot.Store(s)
	b.endWaits(func(w Wait) bool { return w.helpedBy(old, s) })
	return s, left
}

// endpointAt returns the endpoint with an address, which it makes if there is none. b.mu is held.
func (b *Bucket) endpointAt(address string) *Endpoint {
	e := b.endpoints[address]
	if e == nil {
		e = newEndpoint(b, address)
		if l := b.spare; l == nil || !l.selected || l.address != address {
			e.redial(false)
		}
	}
	return e
}
