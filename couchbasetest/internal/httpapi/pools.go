package httpapi

import (
	"net/http"
	"strconv"
)

func pools(x *exchange) {
	id := x.s.cluster.Identity()
	all := []any{}
	if id.UUID != "" {
		all = append(all, map[string]string{
			"name": "default", "uri": "/pools/default?uuid=" + id.UUID, "streamingUri": "/poolsStreaming/default?uuid=" + id.UUID,
		})
	}
	x.json(http.StatusOK, map[string]any{
		"pools": all, "uuid": id.UUID, "implementationVersion": id.Version, "isEnterprise": true, "allowedServices": x.services(),
		"isAdminCreds": x.user.Name != "", "isDeveloperPreview": id.DeveloperPreview,
		"componentsVersion": map[string]string{"ns_server": id.Version},
	})
}

func poolsDefault(x *exchange) { x.json(http.StatusOK, x.poolFields()) }

func (x *exchange) poolFields() map[string]any {
	id := x.s.cluster.Identity()
	return map[string]any{
		"name": "default", "clusterName": id.Name, "nodes": x.nodes(), "balanced": true, "rebalanceStatus": "none",
		"buckets": map[string]any{
			"uri": bucketsPath + "?v=1", "terseBucketsBase": "/pools/default/b/", "terseStreamingBucketsBase": "/pools/default/bs/",
		},
		"maxBucketCount": 30,
	}
}

func nodeSelf(x *exchange) {
	for _, n := range x.s.cluster.Nodes() {
		if n.ID == x.node {
			x.json(http.StatusOK, x.nodeFields(&n))
			return
		}
	}
	x.missing() // the node is not in the cluster
}

// serviceNames is the names of the services in the descriptions of nodes, by the name of the port in the cluster map.
var serviceNames = []struct{ port, name string }{
	{"kv", "kv"}, {"n1ql", "n1ql"}, {"fts", "fts"}, {"cbas", "cbas"},
}

func (x *exchange) nodes() []any {
	nodes := []any{}
	for _, n := range x.s.cluster.Nodes() {
		nodes = append(nodes, x.nodeFields(&n))
	}
	return nodes
}

func (x *exchange) nodeFields(n *Node) map[string]any {
	services := []string{}
	for _, s := range serviceNames {
		if n.Ports[s.port] != 0 {
			services = append(services, s.name)
		}
	}
	status, membership, group := "healthy", "active", n.Group
	if !n.Healthy {
		status = "unhealthy"
	}
	if !n.Member {
		membership = "inactiveFailed"
	}
	if group == "" {
		group = "Group 1"
	}
	hostname := n.Hostname + ":" + strconv.Itoa(n.Ports["mgmt"])
	return map[string]any{
		"hostname": hostname, "configuredHostname": hostname, "nodeUUID": n.UUID, "otpNode": "ns_1@" + n.Hostname,
		"status": status, "clusterMembership": membership, "recoveryType": "none", "serverGroup": group, "services": services,
		"version": x.s.cluster.Identity().Version, "os": "x86_64-pc-linux-gnu", "clusterCompatibility": compatibility(x.s.cluster.Identity().Version),
		"ports":        map[string]int{"direct": n.Ports["kv"], "httpsMgmt": n.Ports["mgmtSSL"], "httpsCAPI": n.Ports["capiSSL"]},
		"couchApiBase": "http://" + n.Hostname + ":" + strconv.Itoa(n.Ports["capi"]) + "/", "thisNode": n.ID == x.node, "uptime": "1",
	}
}

// services returns the names of the services that the nodes offer.
func (x *exchange) services() []string {
	names := []string{}
	nodes := x.s.cluster.Nodes()
	for _, s := range serviceNames {
		for _, n := range nodes {
			if n.Ports[s.port] != 0 {
				names = append(names, s.name)
				break
			}
		}
	}
	return names
}

// compatibility returns a version as nodes state what they are compatible with: major * 65536 + minor.
func compatibility(version string) int {
	var numbers [2]int
	i := 0
	for _, c := range version {
		if c < '0' || c > '9' {
			if i++; c != '.' || i > 1 {
				break
			}
			continue
		}
		numbers[i] = min(numbers[i]*10+int(c-'0'), 1<<14)
	}
	return numbers[0]<<16 + numbers[1]
}
