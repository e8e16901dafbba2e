package cluster

import (
	"context"
	"sync/atomic"
)

// Server is one server of the topology, with its pool and the requests to its monitor. Its methods are safe for
// concurrent use.
type Server struct {
	address  string
	cluster  *Cluster
	pool     pool
	inFlight atomic.Int64                 // number of operations, for server selection
	check    chan struct{}                // requests for a check
	next     atomic.Pointer[pendingCheck] // the check that begins next
	stop     context.CancelFunc
	checking atomic.Pointer[context.CancelFunc] // cancels the running check, nil if there is none
}

func newServer(c *Cluster, address string) *Server {
	s := &Server{address: address, cluster: c, check: make(chan struct{}, 1)}
	s.beginCheck()
	s.pool.server, s.pool.notices.lock = s, &s.pool.mu
	s.pool.open = make(map[*Conn]struct{})
	s.pool.pending = make(map[*pendingConn]struct{})
	if c.cfg.maintained() {
		s.pool.maintenance = make(chan struct{}, 1)
	}
	return s
}

// Address returns the server's "host:port".
func (s *Server) Address() string { return s.address }

// CheckOut returns a connection, which the caller returns with CheckIn. An error means that nothing was sent: a
// *PoolClearedError, a *CheckOutError, a *HandshakeError or ErrPoolClosed.
func (s *Server) CheckOut(ctx context.Context) (*Conn, error) {
	s.inFlight.Add(1)
	c, err := s.pool.checkOut(ctx)
	if err != nil {
		s.inFlight.Add(-1)
	}
	return c, err
}

// EndUse counts one operation less in flight, without a check in: the connection stays pinned to a cursor or a
// transaction. The next operation on it calls [Server.BeginUse].
func (s *Server) EndUse() { s.inFlight.Add(-1) }

// BeginUse counts one operation more in flight, on a pinned connection.
func (s *Server) BeginUse() { s.inFlight.Add(1) }

// CheckIn returns a connection to the pool.
func (s *Server) CheckIn(c *Conn) {
	c.PinnedTo(UseOperation)
	s.inFlight.Add(-1)
	s.pool.checkIn(c)
}

// idle reports whether no operation is in flight.
func (s *Server) idle() bool { return s.inFlight.Load() == 0 }

// unused reports whether no operation is in flight and no connection is pinned. A pinned connection is open although no
// operation is in flight.
func (s *Server) unused() bool {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	return s.idle() && len(s.pool.open) == 0
}

// cancelCheck cancels a running check, because its connection is probably broken too.
func (s *Server) cancelCheck() {
	if cancel := s.checking.Load(); cancel != nil {
		(*cancel)()
	}
}

// pendingCheck is a check that has not begun yet.
type pendingCheck struct{ done chan struct{} }

// beginCheck returns the check that begins now, for the monitor, which closes done when it has ended.
func (s *Server) beginCheck() *pendingCheck {
	return s.next.Swap(&pendingCheck{done: make(chan struct{})})
}

// NextCheck returns a channel that is closed when a check that began after this call has ended and its result is applied,
// or when the monitor has stopped. It is nil for a load balancer, which is never checked.
func (s *Server) NextCheck() <-chan struct{} {
	if s.cluster.cfg.Topology.LoadBalanced {
		return nil
	}
	return s.next.Load().done
}

// requestCheck asks the monitor for a check as soon as MinHeartbeatInterval allows.
func (s *Server) requestCheck() {
	select {
	case s.check <- struct{}{}:
	default: // a request is already pending
	}
}
