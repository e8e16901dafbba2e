package couchbasetest

import (
	"encoding/json"
	"net"
	"slices"
	"strconv"
)

// mapJSON is a cluster map as nodes serve it.
type mapJSON struct {
	Revision            int64               `json:"rev"`
	Epoch               int64               `json:"revEpoch,omitempty"`
	Name                string              `json:"name,omitempty"`
	UUID                string              `json:"uuid,omitempty"`
	URI                 string              `json:"uri,omitempty"`
	StreamingURI        string              `json:"streamingUri,omitempty"`
	NodeLocator         string              `json:"nodeLocator,omitempty"`
	BucketType          string              `json:"bucketType,omitempty"`
	CapabilitiesVersion string              `json:"bucketCapabilitiesVer"`
	Capabilities        []string            `json:"bucketCapabilities,omitempty"`
	ClusterVersion      []int               `json:"clusterCapabilitiesVer"`
	ClusterCapabilities map[string][]string `json:"clusterCapabilities"`
	ClusterUUID         string              `json:"clusterUUID,omitempty"`
	ClusterName         string              `json:"clusterName,omitempty"`
	Nodes               []nodeJSON          `json:"nodes,omitempty"`
	NodesExt            []nodeExtJSON       `json:"nodesExt"`
	VBucketServerMap    *vbucketMapJSON     `json:"vBucketServerMap,omitempty"`
}

type nodeJSON struct {
	CouchAPIBase string         `json:"couchApiBase,omitempty"`
	Hostname     string         `json:"hostname"`
	Ports        map[string]int `json:"ports"`
}

type nodeExtJSON struct {
	Services  map[string]int           `json:"services"`
	Hostname  string                   `json:"hostname"`
	ThisNode  bool                     `json:"thisNode,omitempty"`
	UUID      string                   `json:"nodeUUID"`
	Group     string                   `json:"serverGroup"`
	Alternate map[string]alternateJSON `json:"alternateAddresses,omitempty"`
}

type vbucketMapJSON struct {
	Algorithm string          `json:"hashAlgorithm"`
	Replicas  int             `json:"numReplicas"`
	Servers   []string        `json:"serverList"`
	Rows      json.RawMessage `json:"vBucketMap"`
	Forward   json.RawMessage `json:"vBucketMapForward,omitempty"`
}

// mapLocked returns the newest map of a bucket, or of the cluster if b is nil, as a node serves it.
func (c *Cluster) mapLocked(b *bucket, at *node) []byte {
	if held, ok := at.maps[b]; ok {
		return held.json
	}
	m := mapJSON{ClusterVersion: []int{1, 0}, ClusterCapabilities: c.profile.clusterCapabilities()}
	if c.profile.atLeast(7, 6, 4) {
		m.ClusterUUID, m.ClusterName = c.uuid, c.name
	}
	if b == nil {
		m.Revision, m.Epoch = c.version.Revision, c.version.Epoch
		c.addNodes(&m, nil, at)
		return marshal(m)
	}
	if b.maps[at.index] == nil {
		b.describe(&m)
		c.addNodes(&m, b, at)
		b.maps[at.index] = marshal(m)
	}
	return b.maps[at.index]
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("couchbasetest: " + err.Error()) // there is no value in it that cannot be encoded
	}
	return b
}

// addNodes adds first the nodes that have data of the bucket, in its order, then the others.
func (c *Cluster) addNodes(m *mapJSON, b *bucket, at *node) {
	var order []int
	if b != nil {
		order = slices.Clone(b.members)
	}
	for _, n := range c.nodes {
		if n.member && !slices.Contains(order, n.index) {
			order = append(order, n.index)
		}
	}
	for _, i := range order {
		n := c.nodes[i]
		m.NodesExt = append(m.NodesExt, nodeExtJSON{
			Services: n.ports, Hostname: n.host, ThisNode: n == at, UUID: n.uuid, Group: c.groupOf(i), Alternate: n.alternates(),
		})
	}
}

// hasViews reports whether the bucket can have views.
func (b *bucket) hasViews() bool { return b.shown.Storage == "couchstore" }

// describe adds what is the bucket's.
func (b *bucket) describe(m *mapJSON) {
	c := b.cluster
	m.Revision, m.Epoch, m.Name, m.UUID, m.NodeLocator = b.version.Revision, b.version.Epoch, b.Name, b.uuid, "vbucket"
	m.BucketType = "membase"
	if b.Ephemeral {
		m.BucketType = "ephemeral"
	}
	m.Capabilities = c.profile.bucketCapabilities(b.hasViews())
	if b.shown.Storage == "magma" && c.profile.atLeast(7, 2) {
		m.Capabilities = append(m.Capabilities, "nonDedupedHistory")
	}
	m.URI = "/pools/default/buckets/" + b.Name + "?bucket_uuid=" + b.uuid
	m.StreamingURI = "/pools/default/bucketsStreaming/" + b.Name + "?bucket_uuid=" + b.uuid
	servers := make([]string, len(b.members))
	place := map[int]int{none: none}
	for i, index := range b.members {
		n := c.nodes[index]
		place[index], servers[i] = i, n.addressOf("kv")
		j := nodeJSON{Hostname: net.JoinHostPort(n.host, strconv.Itoa(n.ports["mgmt"])), Ports: map[string]int{"direct": n.ports["kv"]}}
		if capi := n.addressOf("capi"); capi != "" && b.hasViews() {
			j.CouchAPIBase = "http://" + capi + "/" + b.Name + "%2B" + b.uuid
		}
		m.Nodes = append(m.Nodes, j)
	}
	m.VBucketServerMap = &vbucketMapJSON{Algorithm: "CRC", Replicas: b.Replicas, Servers: servers, Rows: appendRows(nil, b.rows, place)}
	if b.forward != nil {
		m.VBucketServerMap.Forward = appendRows(nil, b.forward, place)
	}
}

// appendRows writes rows of nodes as JSON, each node by its place in the bucket's list.
func appendRows(dst []byte, rows [][]int, place map[int]int) []byte {
	dst = append(dst, '[')
	for vb, row := range rows {
		if vb > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '[')
		for i, n := range row {
			if i > 0 {
				dst = append(dst, ',')
			}
			at, ok := place[n]
			if !ok {
				at = none
			}
			dst = strconv.AppendInt(dst, int64(at), 10)
		}
		dst = append(dst, ']')
	}
	return append(dst, ']')
}
