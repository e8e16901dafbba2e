package couchbasetest

import (
	"net"
	"strconv"
	"strings"
)

// externalNetwork is the name of the other network in cluster maps.
const externalNetwork = "external"

// External gives each node a second host, by which clients outside of the cluster's network reach it: cluster maps have it as the
// network "external". On TCP it is "localhost", in memory a virtual host. The ports are the same.
func External() Option { return func(c *config) { c.external = true } }

// ServerGroups puts the nodes into server groups, in turn: the first node into the first, and so on. Without it all are in "Group 1".
func ServerGroups(groups ...string) Option { return func(c *config) { c.groups = groups } }

// groupOf returns the server group of a node.
func (c *config) groupOf(node int) string {
	if len(c.groups) == 0 {
		return "Group 1"
	}
	return c.groups[node%len(c.groups)]
}

// externalHost is the node's host in the other network.
func (n *node) externalHost() string {
	if n.cluster.network == nil {
		return "localhost"
	}
	return "node" + strconv.Itoa(n.index+1) + ".external.test"
}

// ConnectionString returns the connection string of all nodes that are in the cluster.
func (c *Cluster) ConnectionString() string {
	return c.connectionString(func(n *node) string { return n.host })
}

// ExternalConnectionString returns the connection string of all nodes in the network "external". It needs the option External.
func (c *Cluster) ExternalConnectionString() string { return c.connectionString((*node).externalHost) }

func (c *Cluster) connectionString(host func(*node) string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	scheme, service := c.scheme()
	var hosts []string
	for _, n := range c.nodes {
		if n.member {
			hosts = append(hosts, net.JoinHostPort(host(n), strconv.Itoa(n.ports[service])))
		}
	}
	return scheme + "://" + strings.Join(hosts, ",")
}

// scheme returns the scheme of connection strings, and the service that they name.
func (c *Cluster) scheme() (scheme, service string) {
	if c.authority != nil {
		return "couchbases", "kvSSL"
	}
	return "couchbase", "kv"
}

// alternateJSON is the addresses of a node in another network, as a cluster map has them.
type alternateJSON struct {
	Hostname string         `json:"hostname"`
	Ports    map[string]int `json:"ports"`
}

// alternates returns the node's addresses in other networks, nil if there are none.
func (n *node) alternates() map[string]alternateJSON {
	if !n.cluster.external {
		return nil
	}
	return map[string]alternateJSON{externalNetwork: {n.externalHost(), n.ports}}
}
