package cluster

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/telemetry"
)

// Cluster is a client's view of a deployment: the topology description, and a pool and a monitor for each server. A
// load balancer has no monitor. Its methods are safe for concurrent use.
type Cluster struct {
	cfg     Config
	id      bson.ObjectID // of the topology, for events
	codecs  *codecs
	tracer  *telemetry.Tracer                           // of selections, joined with the log
	pooled  func(context.Context, *telemetry.PoolEvent) // nil: nobody is told of pools
	passive bool                                        // who is told of pools only looks
	// toldCtx is the background, with which tracers are told of what no operation waits for.
	toldCtx context.Context //nolint:containedctx // it never ends

	mu       sync.Mutex // serialises changes of the topology
	servers  map[string]*Server
	removed  []*Server // servers that left the topology and may still have operations in flight, or pinned connections
	snapshot atomic.Pointer[Snapshot]
	notices  notices // calls of listeners
	metadata metadata

	listeners      listeners
	background     sync.WaitGroup  // monitors, maintenance and pending connections
	selectionCtx   context.Context //nolint:containedctx // ends with EndSelections, at the latest with backgroundCtx
	endSelections  context.CancelFunc
	backgroundCtx  context.Context //nolint:containedctx // what runs in the background ends at Close, later than any call
	stopBackground context.CancelCauseFunc
}

// Snapshot is the topology at one moment. It is immutable.
type Snapshot struct {
	Description *topology.Description
	servers     []*Server // in the order of Description.Servers
	mongoses    topology.Mongoses
	changed     chan struct{} // closed when there is a newer snapshot
}

// Server returns the server of a description in this snapshot, or nil if d is not in it.
func (s *Snapshot) Server(d *topology.Server) *Server {
	for i, have := range s.Description.Servers {
		if have == d {
			return s.servers[i]
		}
	}
	return nil
}

// New starts a cluster and its monitors. It returns an error only if the configuration is invalid.
func New(cfg Config) (*Cluster, error) {
	cfg.setDefaults()
	description, err := topology.New(cfg.Topology)
	if err != nil {
		return nil, err
	}
	c := newCluster(cfg)
	started := false
	defer func() {
		if !started { // a listener panicked
			c.Close()
		}
	}()
	c.open(description)
	if cfg.SRV != nil && !cfg.Topology.LoadBalanced {
		c.background.Go(func() { c.pollSRV(c.backgroundCtx, cfg.SRV) })
	}
	started = true
	return c, nil
}

// open publishes the first description. The application's listeners of the topology are called in the background: they may need
// what New's caller does later, for example release a lock. The monitors start after these calls, so that no event of a
// server comes before that of its opening.
func (c *Cluster) open(first *topology.Description) {
	c.mu.Lock()
	created, start := c.publish(first)
	if c.observed() {
		c.notices.add(func() { c.announceOpening(first) })
	}
	c.mu.Unlock()
	created.run()
	if !c.observed() {
		start.run()
		return
	}
	c.background.Go(func() {
		defer start.run() // also if a listener panics
		c.notices.deliver()
	})
}

func newCluster(cfg Config) *Cluster {
	c := &Cluster{cfg: cfg, id: bson.NewObjectID(), toldCtx: context.Background(), servers: make(map[string]*Server)}
	c.codecs = newCodecs(&c.cfg)
	c.trace()
	c.notices.lock = &c.mu
	c.metadata.appName, c.metadata.environment = cfg.Handshake.AppName, cfg.Environment
	c.metadata.add(cfg.Handshake.Library)
	c.backgroundCtx, c.stopBackground = context.WithCancelCause(context.Background())
	c.selectionCtx, c.endSelections = context.WithCancel(c.backgroundCtx)
	return c
}

// Snapshot returns the current topology. It takes no lock.
func (c *Cluster) Snapshot() *Snapshot { return c.snapshot.Load() }

// Close stops the monitors and closes the pools. Connections in use stay open until they are checked in or
// interrupted, except for those that wait for the next operation of a cursor, a transaction or a request.
func (c *Cluster) Close() {
	var after effects
	c.listeners.ending()
	c.mu.Lock()
	first := c.servers != nil
	c.stopBackground(ErrPoolClosed)
	for _, s := range c.servers {
		c.removed = append(c.removed, s)
		after = append(after, s.pool.close()...)
	}
	c.servers = nil
	c.mu.Unlock()
	defer c.closed(first) // also if a listener panics
	after.run()
}

// closed is the end of Close, when the pools are closed.
func (c *Cluster) closed(first bool) {
	for _, s := range c.all() {
		s.pool.closePinned()
	}
	c.awaitBackground()
	if first && c.observed() {
		c.notify(func() { c.announceClosed(c.snapshot.Load().Description) })
	}
}

// Interrupt interrupts the connections in use and the pending connections of every server.
func (c *Cluster) Interrupt() {
	for _, s := range c.all() {
		s.pool.interruptAll()
	}
}

// all returns the servers that may have operations in flight.
func (c *Cluster) all() []*Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.AppendSeq(slices.Clone(c.removed), maps.Values(c.servers))
}

// effects are the calls that follow a change of the topology. They run after the lock is released.
type effects []func()

// run makes all calls, also if one of them panics: the others may end a wait or close a connection.
func (e effects) run() {
	if len(e) > 0 {
		defer e[1:].run()
		e[0]()
	}
}

// change makes next the current topology and reports it to the listeners. Every change of the topology after the first
// description goes through this function. It is called with the lock held.
func (c *Cluster) change(next *topology.Description) effects {
	old := c.snapshot.Load().Description
	if next == old {
		return nil
	}
	after, start := c.publish(next)
	after = append(after, c.checkStalePrimaries(old, next)...)
	after = append(after, c.logNoServers(old, next)...)
	if c.observed() {
		c.notices.add(func() { c.announce(old, next) })
		after = append(after, c.notices.deliver)
	}
	return append(after, start...)
}

// checkStalePrimaries requests an immediate check of each former primary.
func (c *Cluster) checkStalePrimaries(old, next *topology.Description) effects {
	var after effects
	for _, change := range topology.Changes(old, next, nil) {
		if change.CheckNow() {
			after = append(after, c.servers[change.New.Address].recheck)
		}
	}
	return after
}

// publish makes description the current one. New servers get a pool and a monitor; those of removed servers are
// closed and stopped. The monitors are started by the second effects. It is called with the lock held.
func (c *Cluster) publish(description *topology.Description) (after, start effects) {
	next := &Snapshot{Description: description, changed: make(chan struct{})}
	old := c.snapshot.Load()
	if old != nil && topology.SameAddresses(old.Description, description) {
		next.servers = old.servers // nearly every hello: nothing is to be done for each of perhaps a thousand servers
	} else {
		next.servers, after, start = c.addServers(description)
		after = append(after, c.removeServers(description)...)
	}
	c.snapshot.Store(next)
	if old != nil {
		close(old.changed)
	}
	return after, start
}

// addServers returns the servers of a description. It adds those that are new. It and removeServers are called with the lock held.
//
//nolint:contextcheck,nolintlint // the monitors run until Close, longer than the call that starts them
func (c *Cluster) addServers(description *topology.Description) (all []*Server, after, start effects) {
	for _, d := range description.Servers {
		s := c.servers[d.Address]
		if s == nil {
			s = newServer(c, d.Address)
			c.servers[d.Address] = s
			ctx, cancel := context.WithCancel(c.backgroundCtx)
			s.stop = cancel
			after = append(after, s.pool.created()...)
			start = append(start, func() { c.start(ctx, s) })
		}
		all = append(all, s)
	}
	return all, after, start
}

// removeServers removes the servers that are not in a description.
func (c *Cluster) removeServers(description *topology.Description) (after effects) {
	keep := make(map[string]bool, len(description.Servers))
	for _, d := range description.Servers {
		keep[d.Address] = true
	}
	for address, s := range c.servers {
		if !keep[address] {
			delete(c.servers, address)
			s.stop()
			after = append(after, s.pool.close()...)
			c.removed = append(slices.DeleteFunc(c.removed, (*Server).unused), s)
		}
	}
	return after
}

// start starts a server's monitor and the maintenance of its pool, until ctx ends. A load balancer is never checked: it is
// ready from the start.
func (c *Cluster) start(ctx context.Context, s *Server) {
	if c.cfg.maintained() {
		c.inBackground(func() { s.pool.maintain(ctx) })
	}
	if c.cfg.Topology.LoadBalanced {
		c.checkSucceeded(s, topology.NewLoadBalancer(s.address))
		return
	}
	m := &monitor{server: s}
	if !c.inBackground(func() { m.run(ctx) }) {
		m.stop()
	}
}

// handshakeSucceeded applies the hello of an application's connection. The round trip times of the monitor are kept. If
// the pool was cleared after the connection was begun, the hello is ignored: it would make a server selectable whose
// pool is paused.
func (c *Cluster) handshakeSucceeded(s *Server, generation uint64, d *topology.Server) {
	c.mu.Lock()
	var after effects
	if c.servers[s.address] == s && s.pool.generation(bson.NilObjectID) == generation {
		next := *d
		if known := c.snapshot.Load().Description.Server(s.address); known != nil {
			next.RTT, next.HasRTT, next.MinRTT = known.RTT, known.HasRTT, known.MinRTT
		}
		after = c.change(topology.Apply(c.snapshot.Load().Description, &next))
	}
	c.mu.Unlock()
	after.run()
}

// checkSucceeded applies the result of a check in two steps. The first makes the pool ready, if it is not, and reports it, so
// that this happens before the server can be selected. The second publishes the description, and makes the pool ready
// again if it was cleared between the steps.
func (c *Cluster) checkSucceeded(s *Server, d *topology.Server) {
	if _, poolReady := s.pool.readyGeneration(); !poolReady {
		c.checkSucceededStep(s, d, false)
	}
	c.checkSucceededStep(s, d, true)
}

func (c *Cluster) checkSucceededStep(s *Server, d *topology.Server, publish bool) {
	c.mu.Lock()
	var after effects
	if c.servers[s.address] == s {
		next := topology.Apply(c.snapshot.Load().Description, d)
		if next.PoolReady(s.address) {
			after = s.pool.makeReady()
		}
		if publish {
			after = append(after, c.change(next)...)
		}
	}
	c.mu.Unlock()
	after.run()
}

// TargetOf returns a server with its current description, which is Unknown if the server left the topology.
func (c *Cluster) TargetOf(s *Server) Target {
	description := c.snapshot.Load().Description
	d := description.Server(s.address)
	if d == nil {
		d = topology.NewUnknown(s.address, nil, nil)
	}
	return Target{Server: s, Description: d, Topology: description}
}

// ReplaceSeeds applies the result of polling an SRV record (Polling SRV Records for mongos Discovery): servers that
// are not among addresses are removed, new ones are added. Only an Unknown or Sharded topology changes, and none after
// Close.
func (c *Cluster) ReplaceSeeds(addresses []string) {
	var after effects
	c.mu.Lock()
	if !c.Closed() {
		after = c.change(topology.ReplaceSeeds(c.snapshot.Load().Description, addresses))
	}
	c.mu.Unlock()
	after.run()
}

// Closed reports whether the cluster was closed.
func (c *Cluster) Closed() bool { return c.backgroundCtx.Err() != nil }

// Busy reports whether operations are in flight.
func (c *Cluster) Busy() bool {
	return slices.ContainsFunc(c.all(), func(s *Server) bool { return !s.idle() })
}

// AppendDriverInfo adds a library that wraps the client to the metadata of connections that begin from now on.
func (c *Cluster) AppendDriverInfo(info DriverInfo) { c.metadata.add(info) }
