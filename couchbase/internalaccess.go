package couchbase

import (
	"context"
	"strconv"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// Capability is something that a bucket can do.
type Capability uint32

// The capabilities.
const (
	CapabilityDurableWrites Capability = iota + 1
	CapabilityCreateAsDeleted
	CapabilityReplaceBodyWithXattr
)

// CapabilityStatus says whether a bucket can do something.
type CapabilityStatus uint32

// The statuses.
const (
	CapabilityStatusUnknown     CapabilityStatus = iota // the bucket is not open yet
	CapabilityStatusSupported                           // it can
	CapabilityStatusUnsupported                         // it cannot
)

// capabilityNames has the capabilities' names in cluster maps.
var capabilityNames = map[Capability]string{
	CapabilityDurableWrites: "durableWrite", CapabilityCreateAsDeleted: "tombstonedUserXAttrs",
	CapabilityReplaceBodyWithXattr: "subdoc.ReplaceBodyWithXattr",
}

// InternalBucket says what a bucket can do.
type InternalBucket struct{ bucket *Bucket }

// Internal returns what the client knows about the bucket.
func (b *Bucket) Internal() *InternalBucket { return &InternalBucket{b} }

// CapabilityStatus reports whether the bucket can do something, by its map. It uses no network.
func (ib *InternalBucket) CapabilityStatus(capability Capability) (CapabilityStatus, error) {
	name, known := capabilityNames[capability]
	switch {
	case !known:
		return CapabilityStatusUnknown, invalid("there is no capability %d", capability)
	case ib.bucket.bucket == nil:
		return CapabilityStatusUnknown, invalid("the name of the bucket is empty")
	}
	s := ib.bucket.bucket.Snapshot()
	switch {
	case s == nil:
		return CapabilityStatusUnknown, nil
	case s.Map.BucketCan(name):
		return CapabilityStatusSupported, nil
	default:
		return CapabilityStatusUnsupported, nil
	}
}

// InternalCluster describes the nodes of a cluster.
type InternalCluster struct{ cluster *Cluster }

// Internal returns access to what the cluster manager says of the nodes.
func (c *Cluster) Internal() *InternalCluster { return &InternalCluster{c} }

// GetNodesMetadataOptions are the options of [InternalCluster.GetNodesMetadata].
type GetNodesMetadataOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// NodeMetadata is what the cluster manager says of a node.
type NodeMetadata struct {
	ClusterCompatibility int
	ClusterMembership    string
	CouchAPIBase         string
	Hostname             string
	InterestingStats     map[string]float64
	MCDMemoryAllocated   float64
	MCDMemoryReserved    float64
	MemoryFree           float64
	MemoryTotal          float64
	OS                   string
	Ports                map[string]int
	Status               string
	Uptime               int // seconds
	Version              string
	ThisNode             bool // it is the node that answered
}

// nodeJSON is a node as the cluster manager sends it.
type nodeJSON struct {
	ClusterCompatibility int                `json:"clusterCompatibility"`
	ClusterMembership    string             `json:"clusterMembership"`
	CouchAPIBase         string             `json:"couchApiBase"`
	Hostname             string             `json:"hostname"`
	InterestingStats     map[string]float64 `json:"interestingStats"`
	MCDMemoryAllocated   float64            `json:"mcdMemoryAllocated"`
	MCDMemoryReserved    float64            `json:"mcdMemoryReserved"`
	MemoryFree           float64            `json:"memoryFree"`
	MemoryTotal          float64            `json:"memoryTotal"`
	OS                   string             `json:"os"`
	Ports                map[string]int     `json:"ports"`
	Status               string             `json:"status"`
	Uptime               string             `json:"uptime"`
	Version              string             `json:"version"`
	ThisNode             bool               `json:"thisNode"`
}

// GetNodesMetadata returns what the cluster manager says of the nodes.
func (ic *InternalCluster) GetNodesMetadata(opts *GetNodesMetadataOptions) ([]NodeMetadata, error) {
	if opts == nil {
		opts = &GetNodesMetadataOptions{}
	}
	if err := ic.cluster.usable(); err != nil {
		return nil, err
	}
	var answer struct {
		Nodes []nodeJSON `json:"nodes"`
	}
	err := ic.cluster.http.get(managementGet{
		name: "manager_internal_get_nodes_metadata", service: ServiceTypeManagement, asked: clustermap.Management, path: "/pools/default",
		options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	}, &answer)
	if err != nil {
		return nil, err
	}
	nodes := make([]NodeMetadata, 0, len(answer.Nodes))
	for _, n := range answer.Nodes {
		uptime, _ := strconv.Atoi(n.Uptime) // a node that has none has been up for 0 s
		nodes = append(nodes, NodeMetadata{
			ClusterCompatibility: n.ClusterCompatibility, ClusterMembership: n.ClusterMembership, CouchAPIBase: n.CouchAPIBase, Hostname: n.Hostname,
			InterestingStats: n.InterestingStats, MCDMemoryAllocated: n.MCDMemoryAllocated, MCDMemoryReserved: n.MCDMemoryReserved,
			MemoryFree: n.MemoryFree, MemoryTotal: n.MemoryTotal, OS: n.OS, Ports: n.Ports, Status: n.Status, Uptime: uptime, Version: n.Version,
			ThisNode: n.ThisNode,
		})
	}
	return nodes, nil
}
