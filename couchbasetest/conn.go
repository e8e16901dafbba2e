package couchbasetest

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"sync"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// conn is one client's key-value connection to a node. One goroutine reads its requests. It executes them too, but for those
// that wait on a connection whose client accepts replies in any order: each of them has a goroutine of its own.
type conn struct {
	cluster *Cluster
	node    *node
	id      int64
	nc      net.Conn   // with TLS around it, if there is TLS
	plain   net.Conn   // without
	gated   *gatedConn // between the two, nil without TLS
	done    chan struct{}
	once    sync.Once
	running sync.WaitGroup // the requests with a goroutine of their own
	out     output

	// The fields below change only while no request has a goroutine of its own, and with the cluster's mutex held.
	features memd.Features
	greeted  bool // by HELLO
	user     string
	token    string // with which the user logged in, or ""
	bucket   *bucket
	login    *login // the login under way

	// The cluster's mutex guards the fields below.
	dead    bool            // the node's process has ended
	told    memd.MapVersion // the newest map that the client was told of
	pushing bool            // a goroutine tells it of a newer one
}

// newConn is called with the cluster's mutex held.
func newConn(n *node, nc net.Conn, secure *tls.Config, id int64) *conn {
	c := &conn{cluster: n.cluster, node: n, id: id, nc: nc, plain: nc, done: make(chan struct{})}
	if secure != nil {
		c.gated = &gatedConn{Conn: nc, gate: &n.gate, done: make(chan struct{})}
		c.nc = tls.Server(c.gated, secure)
	}
	c.out.conn = c
	return c
}

// Read reads from the client, and holds back what came while the node does not get on.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.nc.Read(b)
	if gateErr := c.node.gate.Wait(c.done); gateErr != nil {
		return 0, gateErr
	}
	return n, err
}

// close ends the connection; the client sees its end after the bytes that were written. It may be called from any goroutine.
func (c *conn) close() { c.once.Do(func() { close(c.done); _ = c.nc.Close() }) }

// abort ends the connection with a reset.
func (c *conn) abort() {
	c.once.Do(func() {
		close(c.done)
		if c.gated != nil {
			c.gated.end()
		}
		testserver.Abort(c.plain)
	})
}

var (
	errHangUp = errors.New("couchbasetest: the connection is to be closed")
	errSilent = errors.New("couchbasetest: nothing is sent on the connection any more")
)

// maxRetained is the largest buffer that a connection keeps between requests, in bytes.
const maxRetained = 1 << 20

func (c *conn) serve() {
	defer c.forget()
	if t, ok := c.nc.(*tls.Conn); ok && !c.secure(t) {
		return
	}
	r := bufio.NewReaderSize(c, 16<<10)
	var in []byte
	for {
		if cap(in) > maxRetained {
			in = nil
		}
		packet, err := memd.Read(r, in)
		if err != nil {
			return
		}
		in = packet
		err = c.handle(packet)
		if errors.Is(err, errSilent) {
			_, _ = io.Copy(io.Discard, r)
			return
		}
		if err == nil && r.Buffered() == 0 {
			err = c.out.flush()
		}
		if err != nil {
			_ = c.out.flush()
			return
		}
	}
}

// forget closes the connection, when its requests have ended, and takes it from the node's list.
func (c *conn) forget() {
	c.close()
	c.running.Wait()
	c.cluster.mu.Lock()
	defer c.cluster.mu.Unlock()
	delete(c.node.conns, c)
	c.cluster.wakeLocked()
}

// handle executes a request, or begins to.
func (c *conn) handle(packet []byte) error {
	p, err := memd.Parse(packet)
	if err != nil {
		return err
	}
	switch p.Magic {
	case memd.MagicRequest, memd.MagicFlexibleRequest:
	case memd.MagicServerResponse:
		return nil
	case memd.MagicResponse, memd.MagicFlexibleResponse, memd.MagicServerRequest:
		return errHangUp
	}
	x := newExec(c, p)
	if x.mayRunAside() {
		if err := c.out.flush(); err != nil {
			return err
		}
		x.own(slices.Clone(packet))
		c.running.Go(x.runAside)
		<-x.waits
		return nil
	}
	if x.alone() {
		c.running.Wait()
	}
	return x.run()
}
