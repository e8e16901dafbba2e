package mongotest

import (
	"context"
	"net"

	"github.com/holdfast-db/holdfast/internal/memnet"
)

// Dialer connects clients to the members of one replica set, or to one pipe. It is safe for concurrent use.
type Dialer struct {
	dial dialFunc
}

// DialContext connects to a server by the address that Addr and hello give. A member that was killed refuses; one that is
// isolated leaves the dial waiting until ctx ends or it is healed. On TCP any other address is dialled as it is; in memory
// it does not exist.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return d.dial(ctx, network, address)
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// dialerOf returns what dials on a network in memory, or on TCP if there is none.
func dialerOf(n *memnet.Network) dialFunc {
	if n != nil {
		return n.DialContext
	}
	return new(net.Dialer).DialContext
}

// dial connects to an address once the server there, if it is one of the set's, is not isolated.
func (rs *Deployment) dial(ctx context.Context, network, address string) (net.Conn, error) {
	rs.mu.Lock()
	s := rs.serverAtLocked(address)
	rs.mu.Unlock()
	if s != nil {
		if err := s.gate.wait(ctx.Done()); err != nil {
			return nil, &net.OpError{Op: "dial", Net: network, Addr: memnet.Addr(address), Err: context.Cause(ctx)}
		}
	}
	return dialerOf(rs.network)(ctx, network, address)
}
