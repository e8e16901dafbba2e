package cluster

import "github.com/holdfast-db/holdfast/internal/couchbase/clustermap"

// Snapshot is what a bucket, or the cluster, knows at one time. It never changes.
type Snapshot struct {
	Map *clustermap.Map
	// Network is the network of the addresses that are used.
	Network string
	// Endpoints has the endpoint of each node that holds vbuckets, by the node's index in Map.Nodes; nil for the other nodes, and in the
	// map of the cluster alone.
	Endpoints []*Endpoint
}

// drained reports whether no vbucket is active at an endpoint any more.
func (s *Snapshot) drained(e *Endpoint) bool {
	if s == nil {
		return false
	}
	for v := range s.Map.VBuckets() {
		if s.endpoint(s.Map.Active(uint16(v))) == e {
			return false
		}
	}
	return true
}

// endpoint returns the endpoint of a node, or nil.
func (s *Snapshot) endpoint(node int) *Endpoint {
	if node < 0 || node >= len(s.Endpoints) {
		return nil
	}
	return s.Endpoints[node]
}

// Owner returns the endpoint that has a vbucket: replica 0 is the active one, 1 the first replica. It returns nil if there is none.
func (s *Snapshot) Owner(vbucket uint16, replica int) *Endpoint {
	if replica == 0 {
		return s.endpoint(s.Map.Active(vbucket))
	}
	return s.endpoint(s.Map.Replica(vbucket, replica-1))
}

// Forward returns the endpoint that will own a vbucket after the rebalance that is going on, or nil.
func (s *Snapshot) Forward(vbucket uint16) *Endpoint { return s.endpoint(s.Map.Forward(vbucket)) }
