package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
)

var errLeft = errors.New("the node has left the cluster map")

// publish makes a map the newest one, and returns the connections to nodes that have left, or that are not needed. b.mu is held.
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
				l.drained = old.drained(e)
				left = append(left, l)
			}
			b.cluster.config.Pools.Left(kvPlace(address))
		}
	}
	b.endpoints = kept
	if m.HasBucket() {
		b.err, b.missing = nil, false
	}
	if old != nil && old.Map.HasBucket() && old.Map.UUID != m.UUID {
		for _, c := range b.collections {
			c.forget()
		}
	}
	b.snapshot.Store(s)
	if l := b.settleLocked(); l != nil {
		left = append(left, l)
	}
	b.endWaits(func(w Wait) bool { return w.helpedBy(old, s) })
	return s, left
}

// closeAnswered closes the connection to a node that has left, when its last request is answered, or when none has been answered for some
// time. An operation that still has the older map is not sent on it. A node that a rebalance has drained is well, and answers. Any other
// may have failed: it gets longer than its answers took.
func (c *Cluster) closeAnswered(l *link) {
	if l.conn.Retire(errLeft) {
		return
	}
	grace := maxLeaveGrace
	if !l.drained {
		grace = min(max(leaveGrace, slowerAnswer*l.conn.LongestAnswer()), maxLeaveGrace)
	}
	if !c.start(func(ctx context.Context) {
		awaitAnswers(ctx, l.conn, grace)
		l.conn.Close(errLeft)
	}) {
		l.conn.Close(errLeft)
	}
}

// awaitAnswers waits until no request is on its way, or none has been answered for the time of grace.
func awaitAnswers(ctx context.Context, conn *kv.Conn, grace time.Duration) {
	quiet := time.Now()
	for left := conn.InFlight(); left > 0 && time.Since(quiet) < grace; {
		if !pause(ctx, leaveLook) {
			return
		}
		if n := conn.InFlight(); n < left {
			left, quiet = n, time.Now()
		}
	}
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
