package cluster

import (
	"net"

	"github.com/holdfast-db/holdfast/internal/base/peek"
)

// openAndSilent reports, without blocking, whether an idle connection is open and has nothing to read. Without this
// check the next operation would lose an attempt if the server or a NAT closed the connection while it was idle. This
// is right under TLS too: a server sends no bytes on an idle connection, except to end the session. A connection that cannot be
// checked is kept: the next use of one that the server has closed fails.
func openAndSilent(nc net.Conn) bool {
	nc = innermost(nc)
	if c, ok := nc.(interface{ OpenAndSilent() bool }); ok { // a connection in memory
		return c.OpenAndSilent()
	}
	state := peek.At(nc)
	return state == peek.Silent || state == peek.Unknown
}

// innermost returns the connection below layers such as TLS that have a NetConn method.
func innermost(nc net.Conn) net.Conn {
	for {
		layer, ok := nc.(interface{ NetConn() net.Conn })
		if !ok {
			return nc
		}
		nc = layer.NetConn()
	}
}
