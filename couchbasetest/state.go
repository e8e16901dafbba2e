package couchbasetest

import (
	"cmp"
	"net"
	"slices"
	"strconv"
)

// State is what a cluster is at a moment, see [Cluster.State].
type State struct {
	Nodes   []NodeState // all nodes that ever were, by their numbers
	Buckets []Bucket    // ordered by name
	// Rebalancing is whether a rebalance has begun and not ended.
	Rebalancing bool
}

// NodeState is the state of one node.
type NodeState struct {
	// Member is whether the node is in the cluster. A node that was failed over and has not left yet is FailedOver.
	Member, FailedOver bool
	// Up is false after Kill. Paused, BlackHoled and Isolated are after the methods Pause, BlackHole and Isolate.
	Up, Paused, BlackHoled, Isolated bool
	// Addresses are "host:port" by the service's name in the cluster map: "kv" or, with TLS, "kvSSL", and so on.
	Addresses map[string]string
}

// State returns the state of the nodes and the buckets.
func (c *Cluster) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := State{Rebalancing: c.rebalance != nil}
	for _, n := range c.nodes {
		addresses := make(map[string]string, len(n.ports))
		for name, port := range n.ports {
			addresses[name] = net.JoinHostPort(n.host, strconv.Itoa(port))
		}
		s.Nodes = append(s.Nodes, NodeState{n.member, n.failedOver, n.up, n.paused, n.blackHoled, n.isolated, addresses})
	}
	for _, b := range c.buckets {
		s.Buckets = append(s.Buckets, b.Bucket)
	}
	slices.SortFunc(s.Buckets, func(a, b Bucket) int { return cmp.Compare(a.Name, b.Name) })
	return s
}

// Forget empties the journal and the record of HTTP requests, and sets the counters of requests to 0. The numbers of the journal's
// entries go on.
func (c *Cluster) Forget() {
	c.journal.mark(func() { c.journal.entries = nil })
	c.http.ForgetRequests()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		for op := range n.received {
			n.received[op].Store(0)
		}
	}
}
