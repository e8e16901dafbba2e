package cluster

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/telemetry"
)

// Server is one server of the topology, with its pool and the requests to its monitor. Its methods are safe for
// concurrent use.
type Server struct {
	address  string
	cluster  *Cluster
	pool     pool
	inFlight atomic.Int64                 // number of operations, for server selection
	check    chan struct{}                // requests for a check
	doubted  chan struct{}                // requests for a check that answers whether the server has died
	next     atomic.Pointer[pendingCheck] // the check that begins next
	running  atomic.Pointer[pendingCheck] // the check that began last
	stop     context.CancelFunc
	cancel   atomic.Pointer[context.CancelCauseFunc] // cancels the running check and ends the monitor's connection

	streaming atomic.Bool  // the monitor's checks wait for the hellos of a stream
	early     atomic.Int64 // when an early check after a lost connection was requested, in nanoseconds of the clock
	probes    pace
	doubts    pace // the checks that begin at once because the server is doubted
	rtts      roundTrips
}

func newServer(c *Cluster, address string) *Server {
	s := &Server{address: address, cluster: c, check: make(chan struct{}, 1), doubted: make(chan struct{}, 1)}
	s.beginCheck()
	s.pool.server, s.pool.notices.lock = s, &s.pool.mu
	if c.passive {
		s.pool.checkoutBegan = &telemetry.PoolEvent{Kind: telemetry.CheckoutBegan, System: telemetry.MongoDB, Address: address}
	}
	s.pool.own = newShare(nil)
	s.pool.open = make(map[*Conn]struct{})
	s.pool.pending = make(map[*pendingConn]struct{})
	if c.cfg.maintained() {
		s.pool.maintenance = make(chan struct{}, 1)
	}
	return s
}

// Address returns the server's "host:port".
func (s *Server) Address() string { return s.address }

// CheckOut returns a connection of a user, nil for that of [Config.Auth], which the caller returns with CheckIn. An error means that nothing was sent: a
// *PoolClearedError, a *CheckOutError, a *HandshakeError or ErrPoolClosed.
func (s *Server) CheckOut(ctx context.Context, u *User) (*Conn, error) {
	s.inFlight.Add(1)
	ok := false
	defer func() {
		if !ok { // also if a listener panics
			s.inFlight.Add(-1)
		}
	}()
	c, err := s.pool.checkOut(ctx, u)
	ok = err == nil
	return c, err
}

// EndUse counts one operation less in flight, without a check in: the connection stays pinned to a cursor or a
// transaction. The next operation on it calls [Server.BeginUse].
func (s *Server) EndUse() { s.inFlight.Add(-1) }

// BeginUse counts one operation more in flight, on a pinned connection.
func (s *Server) BeginUse() { s.inFlight.Add(1) }

// StillUsable reports whether the next operation may use a connection that was kept since an operation: the pool was not
// cleared, and the server has not closed it.
func (s *Server) StillUsable(c *Conn, now time.Time) bool { return s.pool.stillUsable(c, now) }

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

// cancellable returns a context for the checks on one connection of the monitor, which cancelCheck ends.
func (s *Server) cancellable(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	if old := s.cancel.Swap(&cancel); old != nil {
		(*old)(nil)
	}
	return ctx
}

// cancelCheck cancels a running check and ends the monitor's connection, because it is probably broken too.
func (s *Server) cancelCheck() { s.cancelCheckFor(nil) }

func (s *Server) cancelCheckFor(cause error) {
	if cancel := s.cancel.Load(); cancel != nil {
		(*cancel)(cause)
	}
}

// recheck requests a check of a server that the topology made Unknown. A stream would tell nothing until the server
// changes, so it begins again.
func (s *Server) recheck() {
	if s.streaming.Load() {
		s.cancelCheckFor(errRestart)
		return
	}
	s.requestCheck()
}

// pendingCheck is a check that has not ended yet.
type pendingCheck struct{ done chan struct{} }

// beginCheck returns the check that begins now, for the monitor, which closes done when it has ended.
func (s *Server) beginCheck() *pendingCheck {
	now := s.next.Swap(&pendingCheck{done: make(chan struct{})})
	s.running.Store(now)
	return now
}

// PendingCheck is a check of a server whose result is awaited.
type PendingCheck struct {
	done   chan struct{}
	limit  time.Duration
	server *Server // whose check begins as soon as probeInterval allows when an operation waits; nil: there is no need
}

// nextCheck returns the check that shows whether the server has died. Without a stream that is the next one to begin: it is
// done when its result is applied, or when the monitor has stopped. A stream ends as soon as its server dies, so it is
// awaited for a short time only. A load balancer is never checked; nextCheck returns nil then.
func (s *Server) nextCheck() *PendingCheck {
	switch {
	case s.cluster.cfg.Topology.LoadBalanced:
		return nil
	case s.streaming.Load():
		return &PendingCheck{done: s.running.Load().done, limit: streamEnds}
	default:
		return s.afterThis()
	}
}

// afterThis returns the check that begins next.
func (s *Server) afterThis() *PendingCheck {
	return &PendingCheck{done: s.next.Load().done, limit: 2 * MinHeartbeatInterval, server: s}
}

// Suspect returns the next check of the server, which begins soon, because the server did not answer.
// It returns nil for a load balancer.
func (s *Server) Suspect() *PendingCheck {
	if s.cluster.cfg.Topology.LoadBalanced {
		return nil
	}
	check := s.afterThis()
	if s.streaming.Load() {
		s.cancelCheckFor(errSuspect)
	} else {
		s.requestCheck()
	}
	return check
}

// requestCheck asks the monitor for a check as soon as MinHeartbeatInterval allows.
func (s *Server) requestCheck() { request(s.check) }

// request puts a request in a channel of the monitor.
func request(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // a request is already pending
	}
}
