package couchbasetest

import (
	"errors"
	"fmt"
	"net"
	"strconv"
)

// Listen sets the host and the ports of the nodes on TCP. Without it the host is 127.0.0.1, and the ports are any free ones. Cluster
// maps name the host. If it means all addresses of the machine, "0.0.0.0" or "::", they name that of the loopback interface. The first
// node has the ports from port on, in this order: kv, mgmt, capi, n1ql, fts, cbas and, with the option TLS, the same services with TLS.
// The ports of the next node follow them, also those of a node that is added later. With port 0 they are any free ones. A port that is
// in use is an error of Run.
func Listen(host string, port int) Option {
	return func(c *config) { c.listens, c.host, c.port = true, host, port }
}

// checkListen checks the values of Listen.
func (c *config) checkListen() error {
	switch last := c.port + c.nodes*len(c.services()) - 1; {
	case !c.listens:
		return nil
	case c.inMemory:
		return errors.New("couchbasetest: Listen excludes InMemory")
	case c.host == "":
		return errors.New("couchbasetest: Listen: the host is empty")
	case c.port < 0 || c.port > 0 && last > 65535:
		return fmt.Errorf("couchbasetest: Listen: the nodes would have the ports %d to %d; the last port is 65535", c.port, last)
	}
	return nil
}

// bindAddress returns the address at which a node listens for its next service.
func (n *node) bindAddress() string {
	c, port := n.cluster, 0
	if c.port != 0 {
		port = c.port + n.index*len(c.services()) + len(n.ports)
	}
	host := c.host
	if !c.listens {
		host = loopback
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

const loopback = "127.0.0.1"

// hostName returns the host of the nodes on TCP, as cluster maps have it.
func (c *config) hostName() string {
	ip := net.ParseIP(c.host)
	switch {
	case !c.listens:
		return loopback
	case ip == nil || !ip.IsUnspecified():
		return c.host
	case ip.To4() == nil:
		return "::1"
	}
	return loopback
}
