package nodescript

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"
)

// Map describes a cluster map. The nodes are named by their hosts; all of them listen at port 11210.
type Map struct {
	Epoch, Revision int64
	Bucket          string   // "": the map of the cluster alone
	UUID            string   // another one for a bucket that was removed and made again
	Hosts           []string // of the nodes
	External        []string // their hosts in the network "external", or nil
	Joining         []string // the hosts of nodes that have no data of the bucket yet
	VBuckets        [][]int  // the indexes of the active node and the replicas of each vbucket; nil: the bucket has none
	Forward         [][]int
}

// port is that of every node.
const port = 11210

// JSON returns the map as a node sends it.
func (m Map) JSON() []byte {
	extended := make([]map[string]any, len(m.Hosts))
	servers := make([]string, len(m.Hosts))
	nodes := make([]map[string]any, len(m.Hosts))
	for i, host := range m.Hosts {
		servers[i] = net.JoinHostPort(host, strconv.Itoa(port))
		nodes[i] = map[string]any{"hostname": host + ":8091"}
		extended[i] = map[string]any{"hostname": host, "services": map[string]int{"kv": port, "mgmt": 8091}}
		if m.External != nil {
			extended[i]["alternateAddresses"] = map[string]any{"external": map[string]any{"hostname": m.External[i]}}
		}
	}
	for _, host := range m.Joining {
		extended = append(extended, map[string]any{"hostname": host, "services": map[string]int{"kv": port, "mgmt": 8091}})
	}
	all := map[string]any{"rev": m.Revision, "revEpoch": m.Epoch, "nodesExt": extended}
	if m.Bucket != "" {
		all["name"], all["uuid"], all["nodes"], all["nodeLocator"] = m.Bucket, "uuid"+m.UUID, nodes, "vbucket"
		all["bucketCapabilities"] = []string{"collections", "durableWrite"}
	}
	switch {
	case m.Bucket == "":
	case m.VBuckets == nil:
		all["nodeLocator"] = "ketama"
	default:
		table := map[string]any{"hashAlgorithm": "CRC", "numReplicas": len(m.VBuckets[0]) - 1, "serverList": servers, "vBucketMap": m.VBuckets}
		if m.Forward != nil {
			table["vBucketMapForward"] = m.Forward
		}
		all["vBucketServerMap"] = table
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic(fmt.Sprintf("nodescript: a map: %v", err))
	}
	return b
}
