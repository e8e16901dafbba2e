package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// server is a member or a mongos: it has an address, connections, and fail points of its own. Its fields are guarded by the set's mutex
// but for those that never change.
type server struct {
	listening
	deployment *Deployment
	process    *replica.Process
	member     *member // nil if it is a mongos
	mongos     *mongos // nil if it is a member
	accepted   int     // connections since its start
	limiter    limiter // of new connections
	conns      map[*conn]struct{}
	points     failPoints
	tally
}

// openLocked lets clients in: the process has started.
func (s *server) openLocked() {
	s.refuse(false)
	s.accepted = 0
	s.points.clear()
	s.limiter = limiter{}
}

// shutLocked lets no more clients in: the process stops. It returns the connections, which are to be aborted.
func (s *server) shutLocked() []*conn {
	s.refuse(true)
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	return conns
}

// refuse makes a network in memory refuse new connections, or no more. On TCP they are accepted and reset, see acceptAll.
func (s *server) refuse(refuse bool) {
	if l, ok := s.listener.(*memnet.Listener); ok {
		l.Refuse(refuse)
	}
}
