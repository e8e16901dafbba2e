package mongotest

import (
	"fmt"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/status"
)

// server is a member or a mongos: it has an address, connections, and fail points of its own. Its fields are guarded by the set's mutex
// but for those that never change.
type server struct {
	listening
	deployment *Deployment
	process    *replica.Process
	member     *call.Member // nil if it is a mongos
	mongos     *mongos      // nil if it is a member
	accepted   int          // connections since its start
	limiter    limiter      // of new connections
	counts     *status.Counts
	conns      map[*conn]struct{}
	points     call.FailPoints
	tally
}

// newMember makes a member and its server.
func newMember(rs *Deployment, index int) *server {
	m := &call.Member{Member: replica.NewMember(rs.set, index), Cluster: rs.cluster}
	s := &server{
		deployment: rs, process: &m.Process, member: m, conns: make(map[*conn]struct{}), tally: newTally(),
		listening: listening{name: fmt.Sprintf("member %d", index), host: fmt.Sprintf("m%d", index)},
	}
	m.Points, s.points.Member = &s.points, m.Member
	m.RunLocked()
	s.openLocked()
	return s
}

// serverOf returns the server of a member: the members' servers are the first. It is called with the set's mutex held.
func (rs *Deployment) serverOf(m *call.Member) *server { return rs.servers[m.Index] }

// openLocked lets clients in: the process has started.
func (s *server) openLocked() {
	s.refuseDials(false)
	s.accepted, s.counts = 0, new(status.Counts)
	if s.member != nil {
		s.member.Counts.Store(s.counts)
	}
	s.limiter = limiter{}
}

// shutLocked lets no more clients in: the process stops. It returns the connections, which are to be aborted.
func (s *server) shutLocked() []*conn {
	s.refuseDials(true)
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	return conns
}

// refuseDials makes a network in memory refuse new connections, or no more. On TCP they are accepted and reset, see acceptAll.
func (s *server) refuseDials(refuse bool) {
	if l, ok := s.listener.(*memnet.Listener); ok {
		l.Refuse(refuse)
	}
}
