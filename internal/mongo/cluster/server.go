package cluster

import (
	"context"
	"sync/atomic"
)

// Server is one server of the deployment: its pool and its monitor.
type Server struct {
	address  string
	cluster  *Cluster
	pool     pool
	inFlight atomic.Int64 // operations, for the choice between two servers
	check    chan struct{}
	stop     context.CancelFunc
	checking atomic.Pointer[context.CancelFunc] // ends the check that is under way
}

func newServer(c *Cluster, address string) *Server {
	s := &Server{address: address, cluster: c, check: make(chan struct{}, 1)}
	s.pool.server, s.pool.notices.lock = s, &s.pool.mu
	s.pool.open = make(map[*Conn]struct{})
	s.pool.pending = make(map[*pendingConn]struct{})
	return s
}

// Address returns the server's "host:port".
func (s *Server) Address() string { return s.address }

// CheckOut returns a connection, which the caller gives back with CheckIn. Its errors mean that nothing was sent.
func (s *Server) CheckOut(ctx context.Context) (*Conn, error) {
	s.inFlight.Add(1)
	c, err := s.pool.checkOut(ctx)
	if err != nil {
		s.inFlight.Add(-1)
	}
	return c, err
}

// Hold takes note that no operation uses a checked out connection for now, although it is not given back: a cursor or a
// transaction is pinned to it. Until [Server.Use] nothing is in flight on it.
func (s *Server) Hold() { s.inFlight.Add(-1) }

// Use takes note that an operation uses a connection that was held.
func (s *Server) Use() { s.inFlight.Add(1) }

// CheckIn gives a connection back.
func (s *Server) CheckIn(c *Conn) {
	s.inFlight.Add(-1)
	s.pool.checkIn(c)
}

// idle reports whether no operation is in flight.
func (s *Server) idle() bool { return s.inFlight.Load() == 0 }

// cancelCheck ends a check that is under way: its connection is likely as broken as the one that has just failed.
func (s *Server) cancelCheck() {
	if cancel := s.checking.Load(); cancel != nil {
		(*cancel)()
	}
}

// requestCheck asks the monitor to look at the server as soon as it may.
func (s *Server) requestCheck() {
	select {
	case s.check <- struct{}{}:
	default: // one is asked for already
	}
}
