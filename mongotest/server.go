package mongotest

import (
	"net"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/mongotest/internal/parameter"
)

// server is a process of the set, a member or a mongos: it has an address, connections and a state that its hello
// shows. Its fields are guarded by the set's mutex but for those that never change.
type server struct {
	listening
	set    *Deployment
	member *member // nil if it is a mongos
	mongos *mongos // nil if it is a member
	gate   testserver.Gate

	up         bool
	epoch      int64                // counts its starts and ends
	parameters parameter.Parameters // since its start
	started    time.Time
	accepted   int     // connections since its start
	limiter    limiter // of new connections
	conns      map[*conn]struct{}
	points     failPoints
	tally

	processID bson.ObjectID
	counter   int64         // of the state that its hello shows
	changed   chan struct{} // closed when that changes
}

// listening has an address.
type listening struct {
	name     string // for errors
	host     string // in memory
	addr     string
	listener net.Listener
}

// startLocked makes the server run.
func (s *server) startLocked() {
	s.up = true
	s.refuse(false)
	s.epoch++
	s.parameters, s.started, s.accepted = parameter.New(s.set.config.version, s.set.config.startParameters), time.Now(), 0
	s.points.clear()
	s.limiter = limiter{}
	s.processID, s.counter = bson.NewObjectID(), 0
	s.changed = make(chan struct{})
}

// stopLocked ends the server and returns its connections, which are to be aborted.
func (s *server) stopLocked() []*conn {
	s.up = false
	s.refuse(true)
	s.epoch++
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

// showLocked tells those who wait for a change of the server's hello that there is one.
func (s *server) showLocked() {
	s.counter++
	close(s.changed)
	s.changed = make(chan struct{})
}
