package clustermap

import (
	"net"
	"strconv"
)

// Node is one server of the cluster.
type Node struct {
	UUID string
	// Group is the server group that the administrator put the node into, "" without one.
	Group string
	// HasData means that the node holds vbuckets of the map's bucket.
	HasData   bool
	addresses address
	alternate map[string]address // by the name of the network
}

// address is a host with the ports of its services, 0 for a service that it does not offer.
type address struct {
	host       string
	plain, tls [services]int
}

// DefaultNetwork is the network of the addresses that the nodes use among themselves.
const DefaultNetwork = "default"

// Address returns the host and port of a service in a network. It reports false if the node does not offer the service there.
func (n *Node) Address(network string, s Service, tls bool) (string, bool) {
	if s < 0 || s >= services {
		return "", false
	}
	a := n.in(network)
	port := a.plain[s]
	if tls {
		port = a.tls[s]
	}
	if port == 0 || a.host == "" {
		return "", false
	}
	return net.JoinHostPort(a.host, strconv.Itoa(port)), true
}

// in returns the node's address in a network. A node without an address there has its default one. An alternate address
// without ports has the default ports.
func (n *Node) in(network string) address {
	a, ok := n.alternate[network]
	if !ok || network == DefaultNetwork {
		return n.addresses
	}
	if a.plain == ([services]int{}) && a.tls == a.plain {
		a.plain, a.tls = n.addresses.plain, n.addresses.tls
	}
	return a
}

// Host returns the node's host in a network.
func (n *Node) Host(network string) string { return n.in(network).host }

// has reports whether the node has a host and port in a network, for any service. Port 0 stands for every port.
func (n *Node) has(network, host string, port int) bool {
	a := n.in(network)
	if a.host != host {
		return false
	}
	for s := range services {
		if port == 0 || a.plain[s] == port || a.tls[s] == port {
			return true
		}
	}
	return false
}
