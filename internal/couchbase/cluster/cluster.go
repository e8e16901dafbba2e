package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/pools"
)

// ErrClosed matches the errors after [Cluster.Close].
var ErrClosed = errors.New("the cluster is closed")

// Cluster is a client's view of a cluster. All methods of this package's types are safe for concurrent use.
type Cluster struct {
	config Config
	seeds  []string        // shuffled once
	ctx    context.Context //nolint:containedctx // what runs in the background ends at Close, later than any call
	cancel context.CancelFunc
	newest atomic.Pointer[Snapshot] // of all buckets
	logins atomic.Uint64            // how often the credential has changed

	mu         sync.Mutex
	closed     bool
	first      *Bucket // the first bucket; it has no name until the first call of Bucket
	named      map[string]*Bucket
	newer      chan struct{} // closed when newest is replaced
	changed    chan struct{} // closed, and replaced, when the credential changes
	background sync.WaitGroup
}

// Open returns a cluster and connects to it in the background.
func Open(c Config) (*Cluster, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	shuffle := c.Shuffle
	if shuffle == nil {
		shuffle = rand.Shuffle
	}
	cl := &Cluster{config: c, ctx: ctx, cancel: cancel, named: make(map[string]*Bucket), newer: make(chan struct{}), changed: make(chan struct{})}
	cl.seeds = shuffled(c.Seeds, shuffle)
	cl.config.Shuffle = shuffle
	if c.Pools == nil {
		cl.config.Pools = pools.New(nil)
	}
	if c.KV.Timeout == 0 {
		cl.config.KV.Timeout = defaultConnect // a node that does not answer must not hold the seeds after it up for ever
	}
	cl.first = newBucket(cl, "")
	cl.first.open()
	return cl, nil
}

func shuffled(addresses []string, shuffle func(int, func(i, j int))) []string {
	addresses = slices.Clone(addresses)
	shuffle(len(addresses), func(i, j int) { addresses[i], addresses[j] = addresses[j], addresses[i] })
	return addresses
}

// Bucket returns the bucket with a name, which must not be empty, and opens it in the background if it is not open yet.
func (c *Cluster) Bucket(name string) *Bucket {
	c.mu.Lock()
	b, ok := c.named[name]
	if !ok {
		b = c.first
		if len(c.named) > 0 {
			b = newBucket(c, name)
			if c.closed {
				b.closed, b.err = true, ErrClosed
			}
		}
		c.named[name] = b
	}
	isFirst := b == c.first
	c.mu.Unlock()
	switch {
	case ok:
	case isFirst:
		b.adopt(name)
	default:
		b.open()
	}
	return b
}

// Buckets returns the buckets that were opened.
func (c *Cluster) Buckets() []*Bucket {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*Bucket
	for _, b := range c.named {
		all = append(all, b)
	}
	return all
}

// Snapshot returns the newest map of the cluster, or nil if there is none yet. It may be that of any bucket: all of them have all nodes
// and their services.
func (c *Cluster) Snapshot() *Snapshot { return c.newest.Load() }

// Newer returns a channel that is closed when [Cluster.Snapshot] returns another value than since, which may be nil, or, while there is
// no map, when there is news about the reason.
func (c *Cluster) Newer(since *Snapshot) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.newest.Load() != since {
		return closedChannel
	}
	return c.newer
}

// Err returns why there is no map of the cluster yet, or nil.
func (c *Cluster) Err() error {
	if c.newest.Load() != nil {
		return nil
	}
	return c.first.Err()
}

// TLS reports whether the connections are encrypted.
func (c *Cluster) TLS() bool { return c.config.KV.TLS != nil }

// publish makes s the newest map if it is newer.
func (c *Cluster) publish(s *Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.newest.Load(); old != nil && !s.Map.Version.Newer(old.Map.Version) && (old.Map.HasBucket() || !s.Map.HasBucket()) {
		return
	}
	c.newest.Store(s)
	c.tell()
}

// tell wakes those who wait for a map. mu is held.
func (c *Cluster) tell() {
	if !c.closed {
		close(c.newer)
		c.newer = make(chan struct{})
	}
}

// failed wakes those who wait for the first map: they may have to fail.
func (c *Cluster) failed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.newest.Load() == nil {
		c.tell()
	}
}

// start runs f in the background. It reports false if the cluster is closed; then it does nothing.
func (c *Cluster) start(f func(ctx context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.background.Go(func() { f(c.ctx) })
	}
	return !c.closed
}

// Close closes all connections and waits until nothing runs in the background. Waiting operations are woken; they fail with
// [ErrClosed].
func (c *Cluster) Close() {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	if first {
		close(c.newer)
		c.newer = closedChannel
	}
	c.mu.Unlock()
	c.cancel()
	for _, b := range c.everyBucket() {
		b.close()
	}
	c.background.Wait()
}

// closedChannel is a wait that is over.
var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// pause waits, and reports whether ctx is still alive.
func pause(ctx context.Context, d time.Duration) bool { return pauseUntil(ctx, d, nil) }

// pauseUntil is pause that an event ends early.
func pauseUntil(ctx context.Context, d time.Duration, event <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-event:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
