package operation

import (
	"context"
	"errors"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// Pin pins operations to a server: that of the first operation that the server executed. Behind a load balancer, or if
// KeepConnection is set, it pins to the connection too. It is for the operations of a cursor and for those of a
// transaction in a sharded cluster. The code that makes a pin must release it. Only one operation at a time may use it.
type Pin struct {
	// KeepConnection pins to the connection, which stays checked out until Release.
	KeepConnection bool
	// Transaction means that the pin is that of a transaction, for the error of an exhausted pool.
	Transaction bool

	server *cluster.Server
	kept   *keptConn // nil if it is pinned to a server only
}

// PinTo returns a pin to a server, for a cursor that another operation has opened there.
func PinTo(s *cluster.Server) *Pin { return &Pin{server: s} }

// keptConn is a connection that stays checked out for a pin, or for two: a transaction's and that of a cursor in it.
type keptConn struct {
	conn *cluster.Conn
	pins int
	lost bool // conn broke
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
func (p *Pin) Lost() bool { return p.kept != nil && p.kept.lost }

// Release removes the pin, and checks in its connection unless another pin has it too. The next operation selects a server
// again.
func (p *Pin) Release() {
	server, kept := p.server, p.kept
	p.server, p.kept = nil, nil
	if kept != nil {
		if kept.pins--; kept.pins == 0 {
			server.BeginUse()
			server.CheckIn(kept.conn)
		}
	}
}

// checkOut returns the pinned connection or, without one, checks out a connection of the server, for a user. It returns an error if
// ctx has ended, because ctx would only break the connection.
func (p *Pin) checkOut(ctx context.Context, server *cluster.Server, user *cluster.User) (*cluster.Conn, error) {
	switch {
	case p == nil || p.kept == nil:
		return server.CheckOut(ctx, user)
	case p.kept.lost:
		return nil, errConnectionLost
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	default:
		server.BeginUse()
		return p.kept.conn, nil
	}
}

// keeps reports whether the pin is pinned to this connection.
func (p *Pin) keeps(conn *cluster.Conn) bool { return p != nil && p.kept != nil && p.kept.conn == conn }

// pinTo pins to the target, and to the connection if it must be kept.
func (p *Pin) pinTo(target cluster.Target, conn *cluster.Conn) {
	p.server = target.Server
	if p.KeepConnection || target.Topology.Type == topology.LoadBalanced {
		p.kept = &keptConn{conn: conn, pins: 1}
		conn.PinnedTo(p.use())
	}
}

// share pins to the server and the connection of another pin.
func (p *Pin) share(other *Pin) {
	p.server, p.kept = other.server, other.kept
	if p.kept != nil {
		p.kept.pins++
	}
}

// keepServer pins to the server of the first operation that the server executed.
func (p *Pin) keepServer(target cluster.Target) {
	if p != nil && p.server == nil {
		p.server = target.Server
	}
}

// checkIn is called with the connection after an operation. The first one that the server executed pins to the target.
// A pinned connection stays checked out until Release, even if it broke (Load Balancer specification, "Connection
// Pooling").
func (p *Pin) checkIn(target cluster.Target, conn *cluster.Conn, executed bool) {
	if p != nil && p.server == nil && executed {
		p.pinTo(target, conn)
	}
	if !p.keeps(conn) {
		target.Server.CheckIn(conn)
		return
	}
	if !conn.Reusable() {
		p.kept.lost = true
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
