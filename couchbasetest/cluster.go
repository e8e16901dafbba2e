package couchbasetest

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/httpapi"
	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Cluster is a cluster that runs. Run and RunT make one.
type Cluster struct {
	config
	middlewares
	journal   journal
	activity  activity
	network   *memnet.Network       // nil on TCP
	authority *testserver.Authority // nil without TLS
	uuid      string
	http      *httpapi.Services
	done      chan struct{} // closed when the cluster is
	wg        sync.WaitGroup

	mu           sync.Mutex // guards all that follows, and all data of nodes and buckets
	nodes        []*node    // all that ever were, by index
	buckets      map[string]*bucket
	name         string
	version      memd.MapVersion // of the cluster's own map
	revision     int64           // of the newest map
	changed      chan struct{}   // closed, and replaced, when something changed that others wait for
	random       *rand.Rand
	conns        int64 // that were accepted
	stored       passwords
	errorEntries map[Status]memd.ErrorMapEntry
	errorMap     []byte // made when it is first asked for
	closed       bool
	rebalance    *Rebalance // that goes on, nil if none does
	noPushes     bool
}

// newUUID returns a random id. The mutex is held, or nobody else has the cluster yet.
func (c *Cluster) newUUID() string {
	var b [16]byte
	for i := range b {
		b[i] = byte(c.random.Uint32())
	}
	return hex.EncodeToString(b[:])
}

func (c *Cluster) nextVersionLocked() memd.MapVersion {
	c.revision++
	return memd.MapVersion{Epoch: c.profile.epoch(), Revision: c.revision}
}

// wakeLocked wakes those who wait for a change.
func (c *Cluster) wakeLocked() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// Close ends the cluster: its connections are closed and nothing of it runs any more. It must not be called by middleware.
func (c *Cluster) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	close(c.done)
	var conns []*conn
	for _, n := range c.nodes {
		n.stopListening()
		for conn := range n.conns {
			conns = append(conns, conn)
		}
	}
	nodes := c.nodes
	c.mu.Unlock()
	for _, conn := range conns {
		conn.close()
	}
	for _, n := range nodes {
		n.web.close()
	}
	c.wg.Wait()
	return nil
}

// Username and Password return the administrator's.
func (c *Cluster) Username() string { return c.username }

// Password returns the administrator's password.
func (c *Cluster) Password() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.password
}

// Address returns the address, "host:port", at which a node has a service, by the service's name in the cluster map: "kv" or, with
// TLS, "kvSSL", and so on. It panics if there is no such node, and returns "" if the node does not have the service.
func (c *Cluster) Address(node int, service string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodeLocked("Address", node).addressOf(service)
}

// nodeLocked returns a node by its index. It panics if there is none.
func (c *Cluster) nodeLocked(method string, node int) *node {
	if node < 0 || node >= len(c.nodes) {
		panic(fmt.Sprintf("couchbasetest: %s: there is no node %d; there are %d", method, node, len(c.nodes)))
	}
	return c.nodes[node]
}

// bucketLocked returns a bucket by its name. It panics if there is none.
func (c *Cluster) bucketLocked(method, name string) *bucket {
	b := c.buckets[name]
	if b == nil {
		panic(fmt.Sprintf("couchbasetest: %s: there is no bucket %q", method, name))
	}
	return b
}
