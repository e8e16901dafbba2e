package testrun

import (
	"context"
	"net"
)

// Dialer connects to the servers of one run. It is safe for concurrent use.
type Dialer struct {
	servers contextDialer
	ended   <-chan struct{} // closed at the end of the run; nil over TCP
}

type contextDialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// NewDialer returns the dialer of a run, given that of its servers. It is no method of Run, because those are public.
func NewDialer(r *Run, servers contextDialer) *Dialer { return &Dialer{servers, r.over} }

// DialContext connects to a server by an address that the servers give. It returns the errors of a dial on TCP.
//
// In memory, a dial after the run has ended never returns: a client that nobody has closed would try again for ever, and the bubble's clock
// would never stop. So its goroutines are seen to be left.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	select {
	case <-d.ended:
		select {}
	default:
	}
	return d.servers.DialContext(ctx, network, address)
}
