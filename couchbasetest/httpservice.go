package couchbasetest

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/httpapi"
	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// HTTPServices are the HTTP services of all nodes, see [Cluster.HTTP]. Script says what the query, analytics, search and views services
// answer, Inject makes requests fail, and Requests returns what was asked.
type HTTPServices = httpapi.Services

// HTTPWhen selects HTTP requests.
type HTTPWhen = httpapi.When

// HTTPScript answers requests of the query, analytics, search and views services.
type HTTPScript = httpapi.Script

// HTTPAnswer is the answer of a script.
type HTTPAnswer = httpapi.Answer

// HTTPProblem is an error or a warning in an [HTTPAnswer].
type HTTPProblem = httpapi.Problem

// HTTPFault says what happens to one HTTP request.
type HTTPFault = httpapi.Fault

// HTTPRequest is one HTTP request as scripts and [HTTPWhen] see it.
type HTTPRequest = httpapi.Request

// HTTPRecord is an HTTP request with how it was answered.
type HTTPRecord = httpapi.Record

// NodeID is the number of a node in [HTTPWhen].
type NodeID = httpapi.NodeID

// The places where an [HTTPFault] can end a connection.
const (
	CutHTTPRequest = httpapi.CutRequest
	CutHTTPReply   = httpapi.CutReply
	CutHTTPRows    = httpapi.CutRows
	CutHTTPBytes   = httpapi.CutBytes
)

// Service names an HTTP service in [HTTPWhen].
type Service = clustermap.Service

// The services that nodes have besides that of documents.
const (
	Management = clustermap.Management
	Views      = clustermap.Views
	Query      = clustermap.Query
	Search     = clustermap.Search
	Analytics  = clustermap.Analytics
)

// HTTP returns the HTTP services of the nodes.
func (c *Cluster) HTTP() *HTTPServices { return c.http }

// serveHTTP serves an HTTP service of a node until the listener is closed.
func (n *node) serveHTTP(l net.Listener, secure *tls.Config, s clustermap.Service) {
	server := &http.Server{Handler: n.cluster.http.Handler(NodeID(n.index), s), ErrorLog: log.New(io.Discard, "", 0)}
	n.web.add(server)
	_ = server.Serve(&gatedListener{l, n, secure})
	_ = server.Close()
}

// web is the HTTP servers of a node, and their connections.
type web struct {
	mu      sync.Mutex
	servers []*http.Server
	conns   []*gatedConn
}

func (w *web) add(s *http.Server) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.servers = append(w.servers, s)
}

// close ends all servers with their connections.
func (w *web) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		c.end()
	}
	for _, s := range w.servers {
		_ = s.Close()
	}
}

// abort ends all connections with a reset.
func (w *web) abort() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		c.end()
		testserver.Abort(c.Conn)
	}
}

func (w *web) keep(c *gatedConn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = append(slices.DeleteFunc(w.conns, (*gatedConn).ended), c)
}

// gatedListener accepts connections whose bytes are held back while the node does not get on.
type gatedListener struct {
	net.Listener
	node   *node
	secure *tls.Config // nil without TLS
}

func (l *gatedListener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if !l.node.runs() {
			testserver.Abort(nc)
			continue
		}
		c := &gatedConn{Conn: nc, gate: &l.node.gate, done: make(chan struct{})}
		l.node.web.keep(c)
		if l.secure != nil {
			return tls.Server(c, l.secure), nil
		}
		return c, nil
	}
}

// gatedConn is a connection whose bytes are held back while a gate is shut.
type gatedConn struct {
	net.Conn
	gate *testserver.Gate
	done chan struct{}
	once sync.Once
}

func (c *gatedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if gateErr := c.gate.Wait(c.done); gateErr != nil {
		return 0, gateErr
	}
	return n, err
}

func (c *gatedConn) Write(b []byte) (int, error) {
	if err := c.gate.Wait(c.done); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// Close ends the connection.
func (c *gatedConn) Close() error {
	c.end()
	return c.Conn.Close()
}

func (c *gatedConn) end() { c.once.Do(func() { close(c.done) }) }

func (c *gatedConn) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// runs reports whether the node's process runs and the cluster is not closed.
func (n *node) runs() bool {
	n.cluster.mu.Lock()
	defer n.cluster.mu.Unlock()
	return n.up && !n.cluster.closed
}
