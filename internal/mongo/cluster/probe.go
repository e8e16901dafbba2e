package cluster

import (
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// probeInterval is the shortest time between two probes of a server: handshakes that a selection without a primary makes, and checks
// that a lost connection causes.
const probeInterval = 250 * time.Millisecond

// probe makes one handshake with each member of a replica set that has no primary, because a selection waits for one. Its
// hello updates the topology, like that of every application's connection (SDAM, "Clients update the topology from each
// handshake"), so that an election is found between two checks. A member whose monitor streams tells it by itself. One
// that is Unknown, or whose pool is paused, is left to its monitor, which alone may make the pool ready.
func (c *Cluster) probe(s *Snapshot) {
	if s.Description.Type != topology.ReplicaSetNoPrimary {
		return
	}
	for i, server := range s.servers {
		if !s.Description.Servers[i].Known() {
			continue
		}
		if server.streaming.Load() || server.probes.begin(probeInterval) > 0 {
			continue
		}
		if generation, ready := server.pool.readyGeneration(); ready {
			c.inBackground(func() { server.probeOnce(generation) })
		}
	}
}

// checkedEarly reports whether the last check may have come before its time, because an operation had lost its connection. Perhaps the
// server was dying: then a failed dial of an operation is a reason for the next check. Otherwise it is none, unless the operation waits
// (SDAM, "backpressure"): a server that is overloaded must not become Unknown by it.
func (s *Server) checkedEarly() bool {
	return time.Now().UnixNano()-s.early.Load() < int64(MinHeartbeatInterval)
}

// probeOnce makes a handshake. Its failure shows nothing that the next check does not find.
func (s *Server) probeOnce(generation uint64) {
	conn, err := s.connect(s.cluster.backgroundCtx, 0, opening{})
	if err != nil {
		return
	}
	conn.close()
	s.cluster.handshakeSucceeded(s, generation, conn.Description)
}

// inBackground starts f unless the cluster is closed, which waits for what runs in the background. It returns false if the
// cluster is closed.
func (c *Cluster) inBackground(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Closed() {
		return false
	}
	c.background.Go(f)
	return true
}
