package explore

import (
	"context"
	"net"

	"github.com/holdfast-db/holdfast/mongotest"
)

// Dialer connects to the servers of one run. It is safe for concurrent use.
type Dialer struct {
	servers *mongotest.Dialer
	ended   <-chan struct{} // closed at the end of the run; nil over TCP
}

// DialContext connects to a server by the address that the connection string and the server's hello give. It returns the errors of a
// dial on TCP.
//
// With [InMemory], a dial after the run has ended never returns: a client that nobody has closed would try again for ever, and the
// bubble's clock would never stop. So its goroutines are seen to be left.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	select {
	case <-d.ended:
		select {}
	default:
	}
	return d.servers.DialContext(ctx, network, address)
}
