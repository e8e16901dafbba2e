package operation

import (
	"context"
	"errors"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// Pin ties operations to the server of the first of them that succeeds and, behind a load balancer or if KeepConnection
// is set, to its connection. The operations of a cursor and of a transaction in a sharded cluster are tied so, and reads
// that belong together by the Read Preferences specification. Whoever made the pin releases it. It is used by one
// operation at a time.
type Pin struct {
	// KeepConnection ties to the connection, which stays checked out until the pin is released.
	KeepConnection bool

	server *cluster.Server
	conn   *cluster.Conn
	kept   bool // there is, or was, a connection
}

// errConnectionLost is the error of an operation whose pin's connection broke.
var errConnectionLost = errors.New("the connection that the cursor or transaction was tied to is lost")

// Server returns the server to which operations are tied, nil before the first success and after Release.
func (p *Pin) Server() *cluster.Server {
	if p == nil {
		return nil
	}
	return p.server
}

// Lost reports whether the pin's connection broke: the server's side of a cursor or transaction is gone with it.
func (p *Pin) Lost() bool { return p.kept && p.conn == nil }

// Release gives the pin's connection back and forgets the server: the next operation chooses one anew.
func (p *Pin) Release() {
	if p.conn != nil {
		p.server.BeginUse()
		p.server.CheckIn(p.conn)
	}
	p.server, p.conn, p.kept = nil, nil, false
}

// checkOut returns the pin's connection or, if it is tied to none, one of the server.
func (p *Pin) checkOut(ctx context.Context, server *cluster.Server) (*cluster.Conn, error) {
	switch {
	case p == nil || !p.kept:
		return server.CheckOut(ctx)
	case p.conn == nil:
		return nil, errConnectionLost
	default:
		server.BeginUse()
		return p.conn, nil
	}
}

// checkIn takes a connection back after an operation. After a success the pin is tied to the target, and keeps the
// connection if it is tied to one.
func (p *Pin) checkIn(target cluster.Target, conn *cluster.Conn, success bool) {
	if p != nil && p.server == nil && success {
		p.server = target.Server
		p.kept = p.KeepConnection || target.Topology.Kind == topology.LoadBalanced
		if p.kept {
			p.conn = conn
		}
	}
	if p == nil || p.conn != conn {
		target.Server.CheckIn(conn)
		return
	}
	if conn.Reusable() {
		target.Server.EndUse()
		return
	}
	p.conn = nil
	target.Server.CheckIn(conn)
}
