package couchbasetest

import (
	"context"
	"net"
	"strconv"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
)

// Dialer connects clients to the nodes of one cluster. It is safe for concurrent use.
type Dialer struct {
	cluster *Cluster
}

// Dialer returns a dialer, which clients of a cluster in memory need. On TCP it serves, too: only with it the dial to a node in a
// black hole waits.
func (c *Cluster) Dialer() *Dialer { return &Dialer{c} }

// DialContext connects to a node by an address of the cluster map. A killed node refuses the connection, and the dial to a node in
// a black hole waits until that or ctx ends. On TCP it can dial any other address too; in memory other addresses do not exist.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c := d.cluster
	if n := c.nodeAt(address); n != nil {
		if err := n.unreachable.Wait(ctx.Done()); err != nil {
			return nil, &net.OpError{Op: "dial", Net: network, Addr: memnet.Addr(address), Err: context.Cause(ctx)}
		}
	}
	if c.network != nil {
		return c.network.DialContext(ctx, network, address)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// nodeAt returns the node with an address, nil if there is none.
func (c *Cluster) nodeAt(address string) *node {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		for _, port := range n.ports {
			port := strconv.Itoa(port)
			if address == net.JoinHostPort(n.host, port) || address == net.JoinHostPort(n.externalHost(), port) {
				return n
			}
		}
	}
	return nil
}
