package mongotest

import (
	"context"
	"net"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
)

// Dialer connects clients to the servers of one deployment, or to one black pipe. It is safe for concurrent use.
type Dialer struct {
	dial dialFunc
}

// DialContext connects to a server by the address that Addr and hello give. A killed server refuses the connection. The dial
// to an isolated member waits until the isolation or ctx ends. On TCP it can dial any other address too; in memory other
// addresses do not exist.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return d.dial(ctx, network, address)
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// dialerOf returns the function that dials on a network in memory, or on TCP if the network is nil.
func dialerOf(n *memnet.Network) dialFunc {
	if n != nil {
		return n.DialContext
	}
	return new(net.Dialer).DialContext
}

// serverAtLocked returns the server with an address, nil if there is none.
func (rs *Deployment) serverAtLocked(addr string) *server {
	for _, s := range rs.servers {
		if s.process.Addr == addr {
			return s
		}
	}
	return nil
}

// dial connects to an address. If a server of the deployment has the address, it waits until that is not isolated.
func (rs *Deployment) dial(ctx context.Context, network, address string) (net.Conn, error) {
	rs.set.Lock()
	s := rs.serverAtLocked(address)
	rs.set.Unlock()
	if s != nil {
		if err := s.process.Gate.Wait(ctx.Done()); err != nil {
			return nil, &net.OpError{Op: "dial", Net: network, Addr: memnet.Addr(address), Err: context.Cause(ctx)}
		}
	}
	return dialerOf(rs.network)(ctx, network, address)
}
