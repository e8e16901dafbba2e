package nodescript

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Cluster is some nodes with a common log.
type Cluster struct {
	Network *memnet.Network

	mu    sync.Mutex
	began time.Time
	log   []Entry
	maps  map[string]Map // by bucket
	nodes map[string]*Node
	dials []string
}

// Entry is one request that a node received after the handshake.
type Entry struct {
	After   time.Duration // since the cluster began
	Host    string
	Request memd.Packet
}

// String returns the entry on one line.
func (e Entry) String() string { return fmt.Sprintf("%v %s %v", e.After, e.Host, e.Request.Opcode) }

// New returns a cluster without nodes.
func New(c memnet.Config) *Cluster {
	return &Cluster{Network: memnet.New(c), began: time.Now(), maps: make(map[string]Map), nodes: make(map[string]*Node)}
}

// DialContext is for the client's configuration.
func (c *Cluster) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c.mu.Lock()
	c.dials = append(c.dials, address)
	c.mu.Unlock()
	return c.Network.DialContext(ctx, network, address)
}

// Dials returns the addresses that were dialled, in order.
func (c *Cluster) Dials() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.dials)
}

// SetMap makes m the map of its bucket. Nodes answer with it from now on, but do not push it.
func (c *Cluster) SetMap(m Map) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.maps[m.Bucket] = m
}

// Log returns the requests after the handshake that nodes received, without requests for maps.
func (c *Cluster) Log() []Entry {
	return c.logOf(func(op memd.Opcode) bool { return op != memd.OpGetClusterConfig })
}

// Fetches returns the requests for maps after the handshake.
func (c *Cluster) Fetches() []Entry {
	return c.logOf(func(op memd.Opcode) bool { return op == memd.OpGetClusterConfig })
}

func (c *Cluster) logOf(which func(memd.Opcode) bool) []Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Entry
	for _, e := range c.log {
		if which(e.Request.Opcode) {
			all = append(all, e)
		}
	}
	return all
}

// Elapsed returns how long the log's clock has run.
func (c *Cluster) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.began)
}

// ClearLog forgets the log and restarts its clock.
func (c *Cluster) ClearLog() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log, c.dials, c.began = nil, nil, time.Now()
}

// Node is a scripted node. Its fields are set before the first connection, or by Change.
type Node struct {
	Host     string
	Accept   []memd.Feature
	Password string // of every user; "": all passwords are right
	// Missing are the buckets that the node does not have.
	Missing []string
	// Forbidden are the buckets to which nobody has access.
	Forbidden []string
	// ErrorMap is the answer to GET_ERROR_MAP.
	ErrorMap string
	// Script answers a request, and Maps a request for a map after the handshake. They return false to send nothing. Nil: success with the
	// request's value, and the newest map.
	Script, Maps func(r memd.Packet) (memd.Packet, bool)

	cluster  *Cluster
	listener *memnet.Listener

	mu    sync.Mutex
	conns map[*conn]bool
}

// Features are those that a node of today accepts.
var Features = []memd.Feature{
	memd.FeatureXerror, memd.FeatureSelectBucket, memd.FeatureMutationTokens, memd.FeatureDuplex, memd.FeatureUnorderedExecution,
	memd.FeatureFlexibleRequests, memd.FeatureDurability, memd.FeatureCollections, memd.FeaturePreserveExpiry, memd.FeatureKnownMapVersion,
	memd.FeatureBriefMapPush,
}

// Start starts a node. It serves until Stop.
func (c *Cluster) Start(n *Node) *Node {
	l, err := c.Network.Listen(net.JoinHostPort(n.Host, "11210"))
	if err != nil {
		panic(fmt.Sprintf("nodescript: %v", err))
	}
	n.cluster, n.listener, n.conns = c, l, make(map[*conn]bool)
	if n.Accept == nil {
		n.Accept = Features
	}
	c.mu.Lock()
	c.nodes[n.Host] = n
	c.mu.Unlock()
	go n.listen(l)
	return n
}

// Address returns the node's address.
func (n *Node) Address() string { return net.JoinHostPort(n.Host, "11210") }

// Change changes the fields of a node that runs.
func (n *Node) Change(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
}

func (n *Node) listen(l net.Listener) {
	for {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		c := &conn{node: n, nc: nc}
		n.mu.Lock()
		n.conns[c] = true
		n.mu.Unlock()
		go c.serve()
	}
}

// Stop ends the node: its connections break, and nobody can connect. Start starts it again.
func (n *Node) Stop() {
	_ = n.listener.Close()
	n.Cut()
}

// Refuse makes the node refuse connections.
func (n *Node) Refuse(refuse bool) { n.listener.Refuse(refuse) }

// Cut breaks the connections of the node.
func (n *Node) Cut() {
	for _, c := range n.open() {
		_ = c.nc.Close()
	}
}

// open returns the open connections.
func (n *Node) open() []*conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []*conn
	for c := range n.conns {
		all = append(all, c)
	}
	return all
}

// Conns returns the number of open connections.
func (n *Node) Conns() int { return len(n.open()) }

// Push tells the clients of the newest map of their bucket, whole or only its version.
func (n *Node) Push(whole bool) {
	for _, c := range n.open() {
		c.push(whole)
	}
}
