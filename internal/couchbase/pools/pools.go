// Package pools counts the connections of a client to the nodes of a cluster, and tells a tracer of their lives. The key-value connections and
// those of the HTTP services are counted in one place, each service of each node apart.
package pools

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
	"github.com/holdfast-db/holdfast/telemetry"
)

// mostIdle is the number of places without a connection that are remembered: the nodes of a cluster may have new names for ever.
const mostIdle = 1000

// Pools has the connections of a client. It is safe for concurrent use.
type Pools struct {
	tell func(context.Context, *telemetry.PoolEvent) // nil: nobody is told
	ctx  context.Context                             //nolint:containedctx // that of the events: no operation waits for a connection alone

	mu sync.Mutex
	of map[Place]*pool
}

// Place is one service of one node.
type Place struct {
	Address, Service string
}

// pool has the connections to one place. Pools.mu guards it.
type pool struct {
	place        Place
	most         int // connections; 0: no limit
	ids          int64
	pending      int
	open         map[*Conn]struct{}
	waits        map[*Wait]struct{}
	made, failed uint64
	timedOut     uint64
	closed       map[string]uint64 // by the reason
	longestWait  time.Duration
	rested       bool // the latest connection to end did so because nobody needed it
	left         bool // the node is not in the cluster any more
}

// Two reasons for the end of a connection. They change what the pool knows of its place.
const (
	Idle      = "idle"
	Abandoned = "abandoned"
)

// New returns a Pools that tells a tracer, which may be nil, of the connections.
func New(t *telemetry.Tracer) *Pools {
	p := &Pools{ctx: context.Background(), of: make(map[Place]*pool)}
	if t != nil {
		p.tell = t.Pool
	}
	return p
}

// at returns the pool of a place. mu is held.
func (p *Pools) at(place Place) *pool {
	o := p.of[place]
	if o == nil {
		if len(p.of) >= mostIdle {
			maps.DeleteFunc(p.of, func(_ Place, o *pool) bool { return o.empty() })
		}
		o = &pool{place: place, open: make(map[*Conn]struct{}), waits: make(map[*Wait]struct{}), closed: make(map[string]uint64)}
		p.of[place] = o
	}
	return o
}

func (o *pool) empty() bool { return len(o.open) == 0 && o.pending == 0 && len(o.waits) == 0 }

// Left tells the pools that a node has left the cluster. Its place is forgotten when its last connection has ended: a place without a connection
// would look like a node that the client cannot reach.
func (p *Pools) Left(place Place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := p.of[place]; o != nil {
		o.left = true
		p.forgetLeftLocked(o)
	}
}

func (p *Pools) forgetLeftLocked(o *pool) {
	if o.left && o.empty() {
		delete(p.of, o.place)
	}
}

// emit tells of an event. It is called without locks. A panic of the tracer is an error: it may run on a goroutine of the client, where a panic
// would end the process.
func (p *Pools) emit(e telemetry.PoolEvent) (err error) {
	if p.tell == nil {
		return nil
	}
	defer panicked.Recovered("the tracer", &err)
	e.System = telemetry.Couchbase
	p.tell(p.ctx, &e)
	return nil
}

// Stats returns what is known of each place, by address and service. It uses no network.
func (p *Pools) Stats() []telemetry.Pool {
	var all []telemetry.Pool
	var open [][]*Conn
	now := time.Now()
	p.mu.Lock()
	for _, place := range slices.SortedFunc(maps.Keys(p.of), func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Service, b.Service))
	}) {
		o := p.of[place]
		all = append(all, o.stats(now))
		open = append(open, slices.Collect(maps.Keys(o.open)))
	}
	p.mu.Unlock()
	for i, conns := range open { // without the lock: a connection has one of its own
		for _, c := range conns {
			if c.busy() {
				all[i].InUse++
			} else {
				all[i].Idle++
			}
		}
	}
	return all
}

func (o *pool) stats(now time.Time) telemetry.Pool {
	s := telemetry.Pool{
		Address: o.place.Address, Service: o.place.Service, Ready: len(o.open) > 0 || o.rested, Pending: o.pending, Waiting: len(o.waits), Max: o.most,
		Made: o.made, Failed: o.failed, Closed: maps.Clone(o.closed), TimedOut: o.timedOut,
	}
	for w := range o.waits {
		s.OldestWait = max(s.OldestWait, now.Sub(w.since))
	}
	s.LongestWait = max(o.longestWait, s.OldestWait)
	return s
}
