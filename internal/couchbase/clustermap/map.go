package clustermap

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Map is a cluster map, of a bucket or of the cluster alone.
type Map struct {
	Version memd.MapVersion
	// Bucket and UUID are empty in the map of a cluster alone.
	Bucket string
	UUID   string
	// Cluster and ClusterUUID name the cluster. Servers before 7.6.4 do not tell them.
	Cluster, ClusterUUID string
	// Nodes has all nodes. The first of them hold the bucket's vbuckets.
	Nodes    []Node
	Replicas int

	vbuckets, forward table
	bucketCan         []string
	clusterCan        map[string][]string
}

// None means that there is no node.
const None = -1

// table has the nodes of each vbucket: rows of one active node and its replicas.
type table struct {
	width int
	nodes []int16
}

func (t table) rows() int {
	if t.width == 0 {
		return 0
	}
	return len(t.nodes) / t.width
}

func (t table) at(vbucket uint16, column int) int {
	if int(vbucket) >= t.rows() || column < 0 || column >= t.width {
		return None
	}
	return int(t.nodes[int(vbucket)*t.width+column])
}

// HasBucket reports whether this is the map of a bucket.
func (m *Map) HasBucket() bool { return m.Bucket != "" }

// VBuckets returns the number of vbuckets, 0 if the bucket has none or there is no bucket.
func (m *Map) VBuckets() int { return m.vbuckets.rows() }

// Active returns the index of the node that owns a vbucket, or [None].
func (m *Map) Active(vbucket uint16) int { return m.vbuckets.at(vbucket, 0) }

// Replica returns the index of the node that has a replica of a vbucket, or [None]. The first replica is 0.
func (m *Map) Replica(vbucket uint16, replica int) int {
	if replica < 0 {
		return None
	}
	return m.vbuckets.at(vbucket, replica+1)
}

// LiveCopies returns the number of copies of a document that have a node, with the active one. Without vbuckets nobody knows.
func (m *Map) LiveCopies(key []byte) int {
	if m.VBuckets() == 0 {
		return 1 + m.Replicas
	}
	vbucket, live := memd.VBucket(key, m.VBuckets()), 0
	for i := range 1 + m.Replicas {
		if m.vbuckets.at(vbucket, i) != None {
			live++
		}
	}
	return live
}

// Forward returns the index of the node that will own a vbucket after the rebalance that is going on, or [None].
func (m *Map) Forward(vbucket uint16) int { return m.forward.at(vbucket, 0) }

// BucketCan reports whether the bucket has a capability.
func (m *Map) BucketCan(capability string) bool { return slices.Contains(m.bucketCan, capability) }

// ClusterCan reports whether a service of the cluster has a capability, by the service's name in the map.
func (m *Map) ClusterCan(service, capability string) bool {
	return slices.Contains(m.clusterCan[service], capability)
}

// Offering returns the indexes of the nodes that offer a service in a network.
func (m *Map) Offering(network string, s Service, tls bool) []int {
	var all []int
	for i := range m.Nodes {
		if _, ok := m.Nodes[i].Address(network, s, tls); ok {
			all = append(all, i)
		}
	}
	return all
}

// Supersedes returns nil if m may take the place of old, which may be nil, and otherwise the reason why not.
func (m *Map) Supersedes(old *Map) error {
	switch {
	case old == nil:
		return nil
	case old.HasBucket() && !m.HasBucket():
		return malformed("the map of a cluster alone for the bucket %s", old.Bucket)
	case !old.HasBucket() && m.HasBucket():
		return nil
	case old.Bucket != m.Bucket:
		return malformed("the map of the bucket %s for the bucket %s", m.Bucket, old.Bucket)
	case !m.Version.Newer(old.Version):
		return errNotNewer
	case old.UUID == m.UUID && old.VBuckets() > 0 && old.VBuckets() != m.VBuckets():
		return malformed("%d vbuckets, where the bucket %s had %d", m.VBuckets(), m.Bucket, old.VBuckets())
	}
	return nil
}

// Network returns the network by which a client that reached the cluster at a host and port must reach all nodes: the default
// one if a node has this address there, else the first alternate one, by name, in which a node has it, else the default one.
func (m *Map) Network(host string, port int) string {
	if m.reachedIn(DefaultNetwork, host, port) {
		return DefaultNetwork
	}
	for _, network := range m.alternates() {
		if m.reachedIn(network, host, port) {
			return network
		}
	}
	return DefaultNetwork
}

func (m *Map) reachedIn(network, host string, port int) bool {
	return slices.ContainsFunc(m.Nodes, func(n Node) bool { return n.has(network, host, port) })
}

// alternates returns the names of all alternate networks in order.
func (m *Map) alternates() []string {
	var all []string
	for i := range m.Nodes {
		for network := range m.Nodes[i].alternate {
			all = append(all, network)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
