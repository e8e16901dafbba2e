package inspect

import "go.mongodb.org/mongo-driver/v2/event"

// Pool is the state of this program's own connections to a server, the monitor's aside.
type Pool struct {
	State       string `json:"state"` // ready; paused: not before a check has succeeded
	Connections int    `json:"connections"`
	InUse       int    `json:"in_use"`
	Cleared     int    `json:"cleared"` // how often
}

// The states of a pool: Connection Monitoring and Pooling, "Connection Pool".
const (
	poolPaused = "paused"
	poolReady  = "ready"
)

// pool counts the events of one pool.
type pool struct {
	Pool
	ready map[int64]bool // the connections that were made; one that fails before that is closed too
}

func newPool() *pool { return &pool{Pool: Pool{State: poolPaused}, ready: make(map[int64]bool)} }

// poolEvent notes an event of a pool.
func (w *Watcher) poolEvent(e *event.PoolEvent) {
	defer w.lock()()
	if w.pools[e.Address] == nil || e.Type == event.ConnectionPoolCreated {
		w.pools[e.Address] = newPool()
	}
	w.pools[e.Address].note(e)
}

func (p *pool) note(e *event.PoolEvent) {
	switch e.Type {
	case event.ConnectionPoolReady:
		p.State = poolReady
	case event.ConnectionPoolCleared:
		p.State = poolPaused
		p.Cleared++
	case event.ConnectionReady:
		p.ready[e.ConnectionID] = true
	case event.ConnectionClosed:
		delete(p.ready, e.ConnectionID)
	case event.ConnectionCheckedOut:
		p.InUse++
	case event.ConnectionCheckedIn:
		p.InUse--
	}
	p.Connections = len(p.ready)
}
