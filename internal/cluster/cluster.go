package cluster

import (
	"context"
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/topology"
)

// Cluster is a deployment as a client sees it: the topology, and a pool and a monitor for each of its servers.
type Cluster struct {
	cfg Config

	mu       sync.Mutex // serialises changes of the topology
	servers  map[string]*Server
	snapshot atomic.Pointer[Snapshot]

	monitors sync.WaitGroup
	life     context.Context //nolint:containedctx // it is the monitors' life, which no call's context bounds
	end      context.CancelFunc
}

// Snapshot is the topology at one moment. It is immutable.
type Snapshot struct {
	Description *topology.Description
	servers     []*Server     // in the order of Description.Servers
	changed     chan struct{} // closed when there is a newer snapshot
}

// Server returns the server that a description of this snapshot belongs to, or nil.
func (s *Snapshot) Server(d *topology.Server) *Server {
	for i, have := range s.Description.Servers {
		if have == d {
			return s.servers[i]
		}
	}
	return nil
}

// New starts a cluster: its monitors begin at once. It returns an error only for a configuration that contradicts
// itself.
func New(cfg Config) (*Cluster, error) {
	cfg.setDefaults()
	description, err := topology.New(cfg.Topology)
	if err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, servers: make(map[string]*Server)}
	c.life, c.end = context.WithCancel(context.Background())
	c.mu.Lock()
	effects := c.publish(description)
	c.mu.Unlock()
	effects.run()
	return c, nil
}

// Snapshot returns the topology as it is known now.
func (c *Cluster) Snapshot() *Snapshot { return c.snapshot.Load() }

// Close ends the monitors and the pools. Connections in use stay open until they are checked in or interrupted.
func (c *Cluster) Close() {
	c.mu.Lock()
	c.end()
	servers := c.servers
	c.servers = nil
	c.mu.Unlock()
	for _, s := range servers {
		s.pool.close()
	}
	c.monitors.Wait()
}

// Interrupt breaks off what is in flight on every server.
func (c *Cluster) Interrupt() {
	for _, s := range c.Snapshot().servers {
		s.pool.interruptAll()
	}
}

// effects are what a change of the topology entails outside the lock.
type effects []func()

func (e effects) run() {
	for _, f := range e {
		f()
	}
}

// publish makes description the current one: servers that appeared get a pool and a monitor, those that left lose
// theirs. It is called with the lock held.
//
//nolint:contextcheck,nolintlint // a monitor lives as long as the cluster, not as long as the call that found its server
func (c *Cluster) publish(description *topology.Description) effects {
	var after effects
	next := &Snapshot{Description: description, changed: make(chan struct{})}
	keep := make(map[string]bool, len(description.Servers))
	for _, d := range description.Servers {
		s := c.servers[d.Address]
		if s == nil {
			s = newServer(c, d.Address)
			c.servers[d.Address] = s
			after = append(after, func() { c.open(s) })
			ctx, cancel := context.WithCancel(c.life)
			s.stop = cancel
			c.monitors.Go(func() { (&monitor{server: s}).run(ctx) })
		}
		keep[d.Address] = true
		next.servers = append(next.servers, s)
	}
	for address, s := range c.servers {
		if !keep[address] {
			delete(c.servers, address)
			s.stop()
			after = append(after, s.pool.close)
		}
	}
	if old := c.snapshot.Swap(next); old != nil {
		close(old.changed)
	}
	return after
}

func (c *Cluster) open(s *Server) {
	s.pool.emit(event.PoolEvent{
		Type:        event.ConnectionPoolCreated,
		PoolOptions: &event.MonitorPoolOptions{MaxPoolSize: c.cfg.MaxPoolSize},
	})
}

// learn applies what a hello told to an application's connection. The round trip time stays the monitor's. Applying it
// late is harmless: the topology's own rules order it.
func (c *Cluster) learn(s *topology.Server) {
	c.mu.Lock()
	next := *s
	if known := c.snapshot.Load().Description.Server(s.Address); known != nil {
		next.RTT, next.HasRTT = known.RTT, known.HasRTT
	}
	after := c.apply(&next)
	c.mu.Unlock()
	after.run()
}

// apply is called with the lock held.
func (c *Cluster) apply(s *topology.Server) effects {
	if c.servers == nil {
		return nil // closed
	}
	old := c.snapshot.Load().Description
	next := topology.Apply(old, s)
	if next == old {
		return nil
	}
	after := c.publish(next)
	for _, change := range topology.Changes(old, next, nil) {
		if change.CheckNow() { // a stale primary is looked at immediately, not at its next heartbeat
			after = append(after, c.servers[change.New.Address].requestCheck)
		}
	}
	return after
}

// monitored applies a monitor's finding. The pool is ready before anybody can select the server.
func (c *Cluster) monitored(s *Server, d *topology.Server) {
	c.mu.Lock()
	var after effects
	if c.servers[s.address] == s {
		if d.DataBearing() {
			after = s.pool.makeReady()
		}
		after = append(after, c.apply(d)...)
	}
	c.mu.Unlock()
	after.run()
}

// TargetOf returns a server as a target, whatever it is now.
func (c *Cluster) TargetOf(s *Server) Target {
	description := c.snapshot.Load().Description
	d := description.Server(s.address)
	if d == nil {
		d = topology.NewUnknown(s.address, nil, nil)
	}
	return Target{Server: s, Description: d, Topology: description}
}

// Closed tells whether the cluster was closed.
func (c *Cluster) Closed() bool { return c.life.Err() != nil }

// Busy tells whether operations are in flight.
func (c *Cluster) Busy() bool {
	for _, s := range c.snapshot.Load().servers {
		if s.inFlight.Load() > 0 {
			return true
		}
	}
	return false
}
