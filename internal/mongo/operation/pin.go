package operation

import (
	"context"
	"errors"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// Pin pins operations to a server: that of the first operation that succeeds. Behind a load balancer, or if
// KeepConnection is set, it pins to the connection too. It is for the operations of a cursor, for those of a
// transaction in a sharded cluster, and for the "requests" of the Read Preferences document. The code that makes a
// pin must release it. Only one operation at a time may use it.
type Pin struct {
	// KeepConnection pins to the connection, which stays checked out until Release.
	KeepConnection bool
	// Transaction means that the pin is that of a transaction, for the error of an exhausted pool.
	Transaction bool

	server *cluster.Server
	conn   *cluster.Conn // nil if it is pinned to a server only
	lost   bool          // conn broke
}

// errConnectionLost is the error of an operation after the pin's connection broke.
var errConnectionLost = errors.New("the connection to which the cursor or transaction is pinned is closed")

// Server returns the pinned server, nil before the first success and after Release.
func (p *Pin) Server() *cluster.Server {
	if p == nil {
		return nil
	}
	return p.server
}

// Lost reports whether the pinned connection broke. The server ends a cursor or transaction with its connection.
func (p *Pin) Lost() bool { return p.lost }

// Release checks in the pinned connection and removes the pin. The next operation selects a server again.
func (p *Pin) Release() {
	if p.conn != nil {
		p.server.BeginUse()
		p.server.CheckIn(p.conn)
	}
	p.server, p.conn, p.lost = nil, nil, false
}

// checkOut returns the pinned connection or, without one, checks out a connection of the server. It returns an error if
// ctx has ended, because ctx would only break the connection.
func (p *Pin) checkOut(ctx context.Context, server *cluster.Server) (*cluster.Conn, error) {
	switch {
	case p == nil || p.conn == nil:
		return server.CheckOut(ctx)
	case p.lost:
		return nil, errConnectionLost
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	default:
		server.BeginUse()
		return p.conn, nil
	}
}

// keeps reports whether the pin is pinned to this connection.
func (p *Pin) keeps(conn *cluster.Conn) bool { return p != nil && p.conn == conn }

// checkIn is called with the connection after an operation. The first success pins to the target. A pinned connection
// stays checked out until Release, even if it broke (Load Balancer specification, "Connection Pooling").
func (p *Pin) checkIn(target cluster.Target, conn *cluster.Conn, success bool) {
	if p != nil && p.server == nil && success {
		p.server = target.Server
		if p.KeepConnection || target.Topology.Kind == topology.LoadBalanced {
			p.conn = conn
			conn.PinnedTo(p.use())
		}
	}
	if !p.keeps(conn) {
		target.Server.CheckIn(conn)
		return
	}
	if !conn.Reusable() {
		p.lost = true
		_ = conn.Broken(errConnectionLost) // its end also ends the cursor or transaction on the server
	}
	target.Server.EndUse()
}

// use returns what the pin's connection is for.
func (p *Pin) use() cluster.Use {
	if p.Transaction {
		return cluster.UseTransaction
	}
	return cluster.UseCursor
}
