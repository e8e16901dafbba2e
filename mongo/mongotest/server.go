package mongotest

import (
	"net"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/failpoint"
)

// server is what every process of the set is, whatever its part: it has an address, connections and a state that its hello
// shows. Its fields are guarded by the set's mutex but for those that never change.
type server struct {
	set      *ReplicaSet
	member   *member // what it is, nil if it is a mongos
	mongos   *mongos // nil if it is a member
	name     string  // for errors
	host     string  // in memory
	addr     string
	listener net.Listener // nil in memory
	gate     gate

	up         bool
	epoch      int64                // counts its starts and ends
	parameters map[string]parameter // since its start
	started    time.Time
	accepted   int // connections since its start
	conns      map[*conn]struct{}
	points     map[string]*failpoint.Point
	tally

	processID bson.ObjectID
	counter   int64         // of what its hello shows
	changed   chan struct{} // closed when that changes
}

// startLocked makes the server run.
func (s *server) startLocked() {
	s.up = true
	s.epoch++
	s.parameters, s.started, s.accepted = s.set.parameters(), time.Now(), 0
	s.points = make(map[string]*failpoint.Point)
	s.processID, s.counter = bson.NewObjectID(), 0
	s.changed = make(chan struct{})
}

// stopLocked ends the server and returns its connections, which are to be aborted.
func (s *server) stopLocked() []*conn {
	s.up = false
	s.epoch++
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	return conns
}

// showLocked tells those who wait for a change of the server's hello that there is one.
func (s *server) showLocked() {
	s.counter++
	close(s.changed)
	s.changed = make(chan struct{})
}
