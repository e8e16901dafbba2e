package operation

import (
	"context"
	"errors"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// Pin pins operations to a server: that of the first operation that the server executed. Behind a load balancer, or if
// KeepConnection is set, it pins to the connection too. It is for the operations of a cursor, for those of a
// transaction in a sharded cluster, and for the "requests" of the Read Preferences document. The code that makes a
// pin must release it. Only one operation at a time may use it.
type Pin struct {
	// KeepConnection pins to the connection, which stays checked out until Release.
	KeepConnection bool

	server     *cluster.Server
	conn       *cluster.Conn
	pinnedConn bool // pinned to a connection, which is nil if it broke
}

// errConnectionLost is the error of an operation after the pin's connection broke.
var errConnectionLost = errors.New("the connection to which the cursor or transaction is pinned is closed")

// Server returns the pinned server, nil before the first reply without an error and after Release.
func (p *Pin) Server() *cluster.Server {
	if p == nil {
		return nil
	}
	return p.server
}

// Lost reports whether the pinned connection broke. The server ends a cursor or transaction with its connection.
func (p *Pin) Lost() bool { return p.pinnedConn && p.conn == nil }

// Release checks in the pinned connection and removes the pin. The next operation selects a server again.
func (p *Pin) Release() {
	if p.conn != nil {
		p.server.BeginUse()
		p.server.CheckIn(p.conn)
	}
	p.server, p.conn, p.pinnedConn = nil, nil, false
}

// checkOut returns the pinned connection or, without one, checks out a connection of the server. It returns an error if
// ctx has ended, because ctx would only break the connection.
func (p *Pin) checkOut(ctx context.Context, server *cluster.Server) (*cluster.Conn, error) {
	switch {
	case p == nil || !p.pinnedConn:
		return server.CheckOut(ctx)
	case p.conn == nil:
		return nil, errConnectionLost
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	default:
		server.BeginUse()
		return p.conn, nil
	}
}

// keepServer pins to the server of the first operation that the server executed.
func (p *Pin) keepServer(target cluster.Target) {
	if p != nil && p.server == nil {
		p.server = target.Server
	}
}

// keeps reports whether the pin is pinned to this connection.
func (p *Pin) keeps(conn *cluster.Conn) bool { return p != nil && p.conn == conn }

// checkIn is called with the connection after an operation. The first one that the server executed pins to the target.
// A pinned connection stays checked out, unless it broke.
func (p *Pin) checkIn(target cluster.Target, conn *cluster.Conn, executed bool) {
	if p != nil && p.server == nil && executed {
		p.keepServer(target)
		p.pinnedConn = p.KeepConnection || target.Topology.Kind == topology.LoadBalanced
		if p.pinnedConn {
			p.conn = conn
		}
	}
	if !p.keeps(conn) {
		target.Server.CheckIn(conn)
		return
	}
	if conn.Reusable() {
		target.Server.EndUse()
		return
	}
	p.conn = nil
	_ = conn.Broken(errConnectionLost) // its end also ends the cursor or transaction on the server
	target.Server.CheckIn(conn)
}
