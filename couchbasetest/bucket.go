package couchbasetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/httpapi"
	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Bucket describes a bucket.
type Bucket struct {
	Name     string
	Replicas int // 0 to 3: the copies of each vbucket besides the active one
	// Ephemeral buckets have nothing on disk.
	Ephemeral bool
	// Storage is how other buckets are kept, "couchstore" or "magma", which has no views. "": as the version does, magma since 8.0.
	// Only the number of the vbuckets and what the cluster says of the bucket depend on it.
	Storage string
	// MaxExpiry is the longest time that a document lives, and the time of those that are written without one; 0: none.
	MaxExpiry time.Duration
	// FlushEnabled permits to flush the bucket by the management service.
	FlushEnabled bool
}

func (b *Bucket) check() error {
	switch {
	case b.Name == "" || len(b.Name) > 100:
		return fmt.Errorf("couchbasetest: the name of the bucket %q has %d bytes; it has 1 to 100", b.Name, len(b.Name))
	case b.Replicas < 0 || b.Replicas > 3:
		return fmt.Errorf("couchbasetest: the bucket %q has %d replicas; there are 0 to 3", b.Name, b.Replicas)
	case b.Storage != "" && (b.Ephemeral || b.Storage != "couchstore" && b.Storage != "magma"):
		return fmt.Errorf("couchbasetest: the bucket %q has the Storage %q; it is couchstore, magma or, of an ephemeral bucket, empty", b.Name, b.Storage)
	case b.MaxExpiry < 0:
		return fmt.Errorf("couchbasetest: the bucket %q has a negative MaxExpiry", b.Name)
	}
	return nil
}

// none is the node of a copy that nobody has.
const none = -1

// bucket is a bucket that is there. All but the fields of Bucket's name and the uuid are guarded by the cluster's mutex.
type bucket struct {
	Bucket
	cluster  *Cluster
	uuid     string
	version  memd.MapVersion
	vbuckets int     // it never changes
	members  []int   // the nodes with its data, in the order of the map
	rows     [][]int // for each vbucket the node of the active copy, and those of the replicas; none is there, too
	forward  [][]int // where a rebalance leads to, nil without one
	manifest manifest
	maps     map[int][]byte // by node, the JSON of the newest map
	dropped  bool
	shown    httpapi.Bucket // settings that only the management service shows, and the minimum of durability
	minimum  atomic.Uint32  // the least durability level of writes, as a memd.DurabilityLevel; it needs no mutex
}

var (
	errBucketExists   = errors.New("the bucket exists")
	errBucketNotFound = errors.New("the bucket was not found")
)

// CreateBucket makes a bucket.
func (c *Cluster) CreateBucket(b Bucket) error {
	return c.create(b, c.usual(b))
}

// create makes a bucket with the settings that only the management service shows.
func (c *Cluster) create(b Bucket, shown httpapi.Bucket) error {
	if err := b.check(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.buckets[b.Name] != nil {
		return fmt.Errorf("couchbasetest: %q: %w", b.Name, errBucketExists)
	}
	c.createLocked(b, shown)
	return nil
}

func (c *Cluster) createLocked(settings Bucket, shown httpapi.Bucket) {
	b := &bucket{
		Bucket: settings, cluster: c, uuid: c.newUUID(), vbuckets: shown.VBuckets,
		manifest: newManifest(shown.HistoryDefault && c.profile.atLeast(7, 2)),
	}
	if c.sized {
		b.vbuckets = c.vbuckets
	}
	b.showLocked(shown)
	for _, n := range c.nodes {
		if n.member {
			b.join(n)
		}
	}
	b.rows = balanced(b.vbuckets, b.Replicas, b.members)
	for vb, row := range b.rows {
		uuid := c.random.Uint64() >> 1
		for i, n := range row {
			if n == none {
				continue
			}
			v := &c.nodes[n].copies[b][vb]
			v.State, v.UUID = store.Replica, uuid
			if i == 0 {
				v.State = store.Active
			}
		}
	}
	c.buckets[b.Name] = b
	b.changeLocked()
}

// minimumLevels are the names that the management service has for the least durability level of a bucket.
var minimumLevels = map[string]memd.DurabilityLevel{
	"none": 0, "majority": memd.DurabilityMajority, "majorityAndPersistActive": memd.DurabilityMajorityPersist, "persistToMajority": memd.DurabilityPersistMajority,
}

// showLocked gives the bucket the settings of the management service.
func (b *bucket) showLocked(s httpapi.Bucket) {
	b.shown = s
	b.minimum.Store(uint32(minimumLevels[s.MinimumDurability]))
}

// join gives a node room for the data of the bucket.
func (b *bucket) join(n *node) {
	n.copies[b] = make([]store.VBucket, b.vbuckets)
	b.members = append(b.members, n.index)
}

// balanced returns rows in which the nodes have equally many active copies, and equally many replicas.
func balanced(vbuckets, replicas int, members []int) [][]int {
	rows, cells := make([][]int, vbuckets), make([]int, vbuckets*(replicas+1))
	for vb := range rows {
		row := cells[vb*(replicas+1) : (vb+1)*(replicas+1)]
		for i := range row {
			row[i] = none
			if i >= len(members) {
				continue
			}
			step := i
			if i > 0 && len(members) > 2 { // the replicas of one node's vbuckets are on all others
				step = 1 + (i-1+vb/len(members))%(len(members)-1)
			}
			row[i] = members[(vb+step)%len(members)]
		}
		rows[vb] = row
	}
	return rows
}

// DropBucket removes a bucket and its documents.
func (c *Cluster) DropBucket(name string) error {
	conns, err := c.dropBucket(name)
	for _, conn := range conns {
		conn.close()
	}
	return err
}

// dropBucket returns the connections that had the bucket.
func (c *Cluster) dropBucket(name string) (conns []*conn, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.buckets[name]
	if b == nil {
		return nil, fmt.Errorf("couchbasetest: %q: %w", name, errBucketNotFound)
	}
	delete(c.buckets, name)
	b.dropped = true
	for _, n := range c.nodes {
		delete(n.copies, b)
		for conn := range n.conns {
			if conn.bucket == b {
				conns = append(conns, conn)
			}
		}
	}
	c.wakeLocked()
	return conns, nil
}

// FlushBucket removes all documents of a bucket.
func (c *Cluster) FlushBucket(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.buckets[name]
	if b == nil {
		return fmt.Errorf("couchbasetest: %q: %w", name, errBucketNotFound)
	}
	for vb := range b.rows {
		uuid := c.random.Uint64() >> 1
		for _, n := range b.rows[vb] {
			if n != none {
				v := &c.nodes[n].copies[b][vb]
				v.Flush()
				v.UUID, v.High, v.Past = uuid, 0, nil
			}
		}
	}
	c.wakeLocked()
	return nil
}

// active returns the node and the copy that own a vbucket, nil if there is none.
func (b *bucket) active(vb uint16) (*node, *store.VBucket) {
	i := b.rows[vb][0]
	if i == none {
		return nil, nil
	}
	n := b.cluster.nodes[i]
	return n, &n.copies[b][vb]
}
