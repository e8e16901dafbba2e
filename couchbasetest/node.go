package couchbasetest

import (
	"crypto/tls"
	"net"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// node is one server of the cluster. What is not set once when it is made is guarded by the cluster's mutex.
type node struct {
	cluster     *Cluster
	index       int
	uuid        string
	host        string
	ports       map[string]int // by the service's name in the cluster map
	listeners   []net.Listener
	web         web
	tls         *tls.Config     // nil without TLS
	gate        testserver.Gate // shut while the node is paused or in a black hole
	unreachable testserver.Gate // shut while the node is in a black hole
	received    [256]atomic.Int64

	condition
	member     bool          // of the cluster
	failedOver bool          // it was a member and is not removed yet
	died       chan struct{} // closed, and replaced, when its process ends
	conns      map[*conn]struct{}
	copies     map[*bucket][]store.VBucket
	maps       map[*bucket]heldMap   // nil unless HoldMaps was called
	held       map[*bucket]*manifest // manifests that the node does not give up for newer ones
}

// condition is what may be wrong with a node.
type condition struct {
	up         bool // its process runs
	paused     bool // its process does not get on
	blackHoled bool // clients do not reach it
	isolated   bool // no other node reaches it
}

// service is something that a node listens for.
type service struct {
	name    string
	port    int  // in memory
	secured bool // with TLS
	serve   func(*node, net.Listener, *tls.Config)
}

// services are what each node offers.
func (c *config) services() []service {
	list := []service{{"kv", 11210, false, (*node).acceptAll}}
	for _, s := range []struct {
		name string
		port int
		kind clustermap.Service
	}{
		{"mgmt", 8091, clustermap.Management},
		{"capi", 8092, clustermap.Views},
		{"n1ql", 8093, clustermap.Query},
		{"fts", 8094, clustermap.Search},
		{"cbas", 8095, clustermap.Analytics},
	} {
		if s.kind == clustermap.Analytics && !c.profile.atLeast(6, 0) {
			continue
		}
		list = append(list, service{s.name, s.port, false, func(n *node, l net.Listener, secure *tls.Config) { n.serveHTTP(l, secure, s.kind) }})
	}
	if c.withTLS {
		for _, s := range slices.Clone(list) {
			port := s.port + 10_000
			if s.name == "kv" {
				port = 11207
			}
			list = append(list, service{s.name + "SSL", port, true, s.serve})
		}
	}
	return list
}

// newNodeLocked makes a node that runs and is not in the cluster yet.
func (c *Cluster) newNodeLocked() (*node, error) {
	n := &node{
		cluster: c, index: len(c.nodes), uuid: c.newUUID(), host: c.hostName(), ports: make(map[string]int),
		condition: condition{up: true}, died: make(chan struct{}), conns: make(map[*conn]struct{}), copies: make(map[*bucket][]store.VBucket),
	}
	if c.network != nil {
		n.host = "node" + strconv.Itoa(n.index+1) + ".couchbase.test"
	}
	if err := n.certifyLocked(); err != nil {
		return nil, err
	}
	for _, s := range c.services() {
		if err := n.offer(s); err != nil {
			n.stopListening()
			return nil, err
		}
	}
	c.nodes = append(c.nodes, n)
	return n, nil
}

// offer listens for a service, and serves it.
func (n *node) offer(s service) error {
	listeners, err := n.listen(s.port)
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(listeners[0].Addr().String())
	n.ports[s.name], _ = strconv.Atoi(port)
	secure := n.tls
	if !s.secured {
		secure = nil
	}
	for _, l := range listeners {
		n.listeners = append(n.listeners, l)
		n.cluster.wg.Go(func() { s.serve(n, l, secure) })
	}
	return nil
}

// listen returns the listeners of a service: one, or with another network in memory two.
func (n *node) listen(port int) ([]net.Listener, error) {
	network := n.cluster.network
	if network == nil {
		l, err := net.Listen("tcp", n.bindAddress())
		return []net.Listener{l}, err
	}
	hosts := []string{n.host}
	if n.cluster.external {
		hosts = append(hosts, n.externalHost())
	}
	var list []net.Listener
	for _, host := range hosts {
		l, err := network.Listen(net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

func (n *node) stopListening() {
	for _, l := range n.listeners {
		_ = l.Close()
	}
}

// addressOf returns the address of a service, "" if the node does not have it.
func (n *node) addressOf(service string) string {
	port, ok := n.ports[service]
	if !ok {
		return ""
	}
	return net.JoinHostPort(n.host, strconv.Itoa(port))
}

// refuse makes a network in memory refuse new connections, or no more. On TCP they are accepted and reset.
func (n *node) refuse(refuse bool) {
	for _, l := range n.listeners {
		if l, ok := l.(*memnet.Listener); ok {
			l.Refuse(refuse)
		}
	}
}

// acceptAll serves the key-value connections.
func (n *node) acceptAll(l net.Listener, secure *tls.Config) {
	for {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		n.accept(nc, secure)
	}
}

func (n *node) accept(nc net.Conn, secure *tls.Config) {
	c := n.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || !n.up {
		testserver.Abort(nc)
		return
	}
	c.conns++
	conn := newConn(n, nc, secure, c.conns)
	n.conns[conn] = struct{}{}
	c.wg.Go(conn.serve)
}
