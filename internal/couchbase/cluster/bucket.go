package cluster

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Bucket is a bucket of the cluster: its newest map, its endpoints, its collections. The cluster's first Bucket has no name until a
// bucket is opened: it then has the map of the cluster alone.
type Bucket struct {
	cluster  *Cluster
	snapshot atomic.Pointer[Snapshot]

	learning sync.Mutex // before mu
	learnt   learnt

	mu          sync.Mutex
	name        string
	network     string // "": not found yet
	closed      bool
	err         error // why the bucket is not open
	missing     bool  // a node said that the bucket is not there, so the next connection is made without it
	seeking     bool
	spare       *link // a connection without a bucket, or nil
	endpoints   map[string]*Endpoint
	waits       map[Wait]chan struct{}
	collections map[collectionName]*Collection
	fetching    bool
	later       *time.Timer // a fetch that waits for the floor, or nil
	wanted      time.Time   // when an operation last began to wait for a map
	told        memd.MapVersion
	chasing     bool // the map that nodes told of is being fetched
	poll        *time.Timer
}

func newBucket(c *Cluster, name string) *Bucket {
	return &Bucket{
		cluster: c, name: name, network: c.config.fixedNetwork(), endpoints: make(map[string]*Endpoint),
		waits: make(map[Wait]chan struct{}), collections: make(map[collectionName]*Collection),
	}
}

// open begins to look for a node.
func (b *Bucket) open() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seekLocked()
	if interval := b.cluster.config.pollInterval(); interval > 0 && !b.closed {
		b.poll = time.AfterFunc(interval, b.polled)
	}
}

// adopt makes the cluster's first Bucket a bucket: it is opened on the connection that is there, or on the one that is being made.
func (b *Bucket) adopt(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.name = name
	if l := b.spare; l != nil {
		b.cluster.start(l.openBucket)
	}
}

// Name returns the bucket's name.
func (b *Bucket) Name() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.name
}

// Snapshot returns what the bucket knows, or nil if it is not open yet.
func (b *Bucket) Snapshot() *Snapshot {
	s := b.snapshot.Load()
	if s == nil || !s.Map.HasBucket() {
		return nil
	}
	return s
}

// Err returns why the bucket is not open: the error of the latest attempt to connect or to open it, nil if there was none yet.
// It matches [ErrClosed] after Close.
func (b *Bucket) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// Opening returns why the bucket is not open, as [Bucket.Err] does, and a channel that is closed when it is open, or there is news.
func (b *Bucket) Opening() (error, <-chan struct{}) { //nolint:revive,staticcheck // the error is a result, not a failure of Opening
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Snapshot() != nil {
		return nil, closedChannel
	}
	return b.err, b.wake(b.snapshot.Load(), Wait{AnyMap: true})
}

// lateBucket returns the bucket that a connection which has just been made shall select.
func (b *Bucket) lateBucket() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.missing {
		return ""
	}
	return b.name
}

// failed notes why the bucket could not be opened. Operations that wait look at it, because they may have to fail.
func (b *Bucket) failed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.err = err
		b.endWaits(func(w Wait) bool { return w.AnyMap })
		b.cluster.failed()
	}
}

// close closes all connections and ends all waits.
func (b *Bucket) close() {
	b.mu.Lock()
	b.closed, b.err = true, ErrClosed
	for _, t := range []*time.Timer{b.poll, b.later} {
		if t != nil {
			t.Stop()
		}
	}
	var links []*link
	if b.spare != nil {
		links = append(links, b.spare)
	}
	for _, e := range b.endpoints {
		if l := e.leave(ErrClosed); l != nil {
			links = append(links, l)
		}
	}
	b.endWaits(func(Wait) bool { return true })
	b.mu.Unlock()
	for _, l := range links {
		l.conn.Close(ErrClosed)
	}
}
