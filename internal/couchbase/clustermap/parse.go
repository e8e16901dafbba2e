package clustermap

import (
	"encoding/json"
	"errors"
	"math"
	"net"
	"strings"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// errNotNewer is the reason why an older or an equal map changes nothing.
var errNotNewer = errors.New("the cluster map is not newer")

// IsNotNewer reports whether a map does not supersede another one only because it is not newer.
func IsNotNewer(err error) bool { return errors.Is(err, errNotNewer) }

// MaxVBuckets is the largest number of vbuckets of a bucket.
const MaxVBuckets = 1 << 15

// maxNodes is the largest number of nodes. A row of the map names them by 16 bits.
const maxNodes = math.MaxInt16

// text is a map as it is written, as far as it is used.
type text struct {
	Revision   int64               `json:"rev"`
	Epoch      int64               `json:"revEpoch"`
	Name       string              `json:"name"`
	UUID       string              `json:"uuid"`
	BucketCan  []string            `json:"bucketCapabilities"`
	ClusterCan map[string][]string `json:"clusterCapabilities"`
	Cluster    string              `json:"clusterName"`
	ClusterID  string              `json:"clusterUUID"`
	Nodes      []json.RawMessage   `json:"nodes"`
	NodesExt   []textNode          `json:"nodesExt"`
	VBuckets   *textVBuckets       `json:"vBucketServerMap"`
}

type textNode struct {
	Host      string                   `json:"hostname"`
	UUID      string                   `json:"nodeUUID"`
	Group     string                   `json:"serverGroup"`
	Services  map[string]int           `json:"services"`
	Alternate map[string]textAlternate `json:"alternateAddresses"`
}

type textAlternate struct {
	Host  string         `json:"hostname"`
	Ports map[string]int `json:"ports"`
}

type textVBuckets struct {
	Replicas int     `json:"numReplicas"`
	Map      [][]int `json:"vBucketMap"`
	Forward  [][]int `json:"vBucketMapForward"`
}

// hostMark stands in a map for the host that it was read from.
const hostMark = "$HOST"

// Parse reads a map that was read from a host, which is the host of the nodes that the map gives none. The map does not alias
// b.
func Parse(b []byte, host string) (*Map, error) {
	var in text
	if err := json.Unmarshal(b, &in); err != nil {
		return nil, malformed("%v", err)
	}
	if len(in.NodesExt) > maxNodes {
		return nil, malformed("%d nodes, more than %d", len(in.NodesExt), maxNodes)
	}
	if len(in.Nodes) > len(in.NodesExt) {
		return nil, malformed("%d nodes with data of %d nodes", len(in.Nodes), len(in.NodesExt))
	}
	m := &Map{
		Version: memd.MapVersion{Epoch: in.Epoch, Revision: in.Revision}, Bucket: in.Name, UUID: in.UUID,
		Cluster: in.Cluster, ClusterUUID: in.ClusterID, bucketCan: in.BucketCan, clusterCan: in.ClusterCan,
	}
	for i, n := range in.NodesExt {
		node, err := n.node(host)
		if err != nil {
			return nil, err
		}
		node.HasData = i < len(in.Nodes)
		m.Nodes = append(m.Nodes, node)
	}
	return m, m.readVBuckets(&in)
}

func (n *textNode) node(host string) (Node, error) {
	own, err := addressOf(n.Host, n.Services, host)
	if err != nil {
		return Node{}, err
	}
	node := Node{UUID: n.UUID, Group: n.Group, addresses: own, alternate: make(map[string]address, len(n.Alternate))}
	for network, a := range n.Alternate {
		if node.alternate[network], err = addressOf(a.Host, a.Ports, host); err != nil {
			return Node{}, err
		}
	}
	return node, nil
}

func addressOf(host string, ports map[string]int, from string) (address, error) {
	a := address{host: strings.ReplaceAll(host, hostMark, from)}
	if a.host == "" {
		a.host = from
	}
	a.host = strings.TrimSuffix(strings.TrimPrefix(a.host, "["), "]")
	if strings.ContainsAny(a.host, "/@ ") || strings.Contains(a.host, ":") && net.ParseIP(withoutZone(a.host)) == nil {
		return a, malformed("a node with the hostname %q", a.host)
	}
	for s := range services {
		a.plain[s], a.tls[s] = ports[names[s].plain], ports[names[s].tls]
		for _, port := range []int{a.plain[s], a.tls[s]} {
			if port < 0 || port > math.MaxUint16 {
				return a, malformed("a node with the port %d", port)
			}
		}
	}
	return a, nil
}

func withoutZone(host string) string {
	host, _, _ = strings.Cut(host, "%")
	return host
}

func (m *Map) readVBuckets(in *text) error {
	if in.VBuckets == nil {
		return nil
	}
	if !m.HasBucket() {
		return malformed("vbuckets without the name of a bucket")
	}
	if n := in.VBuckets.Replicas; n < 0 || n > maxReplicas {
		return malformed("%d replicas; there are at most %d", n, maxReplicas)
	}
	m.Replicas = in.VBuckets.Replicas
	if n := len(in.VBuckets.Forward); n > 0 && n != len(in.VBuckets.Map) {
		return malformed("%d vbuckets, and %d in the forward map", len(in.VBuckets.Map), n)
	}
	var err error
	if m.vbuckets, err = tableOf(in.VBuckets.Map, m.Replicas+1, len(in.Nodes)); err != nil {
		return err
	}
	m.forward, err = tableOf(in.VBuckets.Forward, m.Replicas+1, len(in.Nodes))
	return err
}

// maxReplicas is the largest number of replicas that a bucket can have.
const maxReplicas = 3

// tableOf reads rows. Where a row is too short or an index is not that of a node with data, there is no node.
func tableOf(rows [][]int, width, nodes int) (table, error) {
	if len(rows) > MaxVBuckets {
		return table{}, malformed("%d vbuckets, more than %d", len(rows), MaxVBuckets)
	}
	t := table{width: width, nodes: make([]int16, 0, len(rows)*width)}
	for _, row := range rows {
		for i := range width {
			node := None
			if i < len(row) && row[i] >= 0 && row[i] < nodes {
				node = row[i]
			}
			t.nodes = append(t.nodes, int16(node))
		}
	}
	return t, nil
}
