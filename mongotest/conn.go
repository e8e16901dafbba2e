package mongotest

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
)

// conn is one client's connection to a server, served by one goroutine.
type conn struct {
	call.Client
	deployment *Deployment
	server     *server
	mongos     *mongos  // nil if the server is a member
	nc         net.Conn // with TLS around it, if there is TLS
	once       sync.Once

	in        []byte
	x         exec
	lastHello helloState // by the last hello
	busy      bool       // with a message

	balanced bool // it came through a load balancer
	greeted  bool // by a hello that knows of the load balancer

	codec      wire.Codec
	compressor wire.Compressor // of the current message, if it came compressed
	compressed bool

	dialogue dialogue // the authentication under way
}

// newConn is called with the set's mutex held.
func newConn(s *server, nc net.Conn, id int64) *conn {
	c := &conn{deployment: s.deployment, server: s, mongos: s.mongos, nc: nc}
	c.Client = call.Client{
		Cluster: s.deployment.cluster, Set: s.deployment.set, Process: s.process, Points: &s.points, Counts: s.counts, Member: s.member, Epoch: s.process.Epoch, ID: id,
		Plain: nc, Done: make(chan struct{}),
	}
	if s.mongos != nil {
		c.Router = &s.mongos.Router
	}
	if s.deployment.tls != nil {
		c.nc = tls.Server(nc, s.deployment.tls)
	}
	c.Conn, c.x.conn, c.x.Client = c, c, &c.Client
	c.Language = c.x.PlainHooks()
	return c
}

// Read reads from the client, and holds back what came while the server is isolated.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.nc.Read(b)
	if gateErr := c.server.process.Gate.Wait(c.Done); gateErr != nil {
		return 0, gateErr
	}
	return n, err
}

func (c *conn) write(b []byte) error {
	if err := c.server.process.Gate.Wait(c.Done); err != nil {
		return err
	}
	n, err := c.nc.Write(b)
	c.Counts.RawOut.Add(int64(n))
	return err
}

// close ends the connection; the client sees its end after the bytes that were written. It may be called from any goroutine.
func (c *conn) close() { c.once.Do(func() { close(c.Done); _ = c.nc.Close() }) }

// abort ends the connection with a reset.
func (c *conn) abort() { c.once.Do(func() { close(c.Done); testserver.Abort(c.Plain) }) }

func (c *conn) serve() {
	defer func() {
		if failure := recover(); failure != nil {
			panic(failure) // perhaps with the set's mutex held, for which forget would wait forever
		}
		if c.busy { // middleware has ended the goroutine, as t.Fatal does
			c.Counts.Serving.Add(-1)
			c.deployment.cluster.Rest()
		}
		c.forget()
	}()
	if !c.admitted() {
		return
	}
	r := bufio.NewReaderSize(c, 16<<10)
	for {
		if cap(c.in) > call.MaxRetained {
			c.in = nil
		}
		message, err := wire.ReadMessage(r, c.in, wire.MaxMessageLength)
		if err != nil {
			return
		}
		c.in = message
		err = c.deal(message)
		if errors.Is(err, errSilent) {
			c.swallow(r)
			return
		}
		if err != nil {
			return
		}
	}
}

// deal is handle, noted for WaitIdle.
func (c *conn) deal(message []byte) error {
	c.busy = true
	c.deployment.cluster.Active.Add(1)
	c.processed(len(message))
	c.Counts.RawIn.Add(int64(len(message)))
	c.Counts.Serving.Add(1)
	err := c.handle(message)
	c.Counts.Serving.Add(-1)
	c.deployment.cluster.Rest()
	c.busy = false
	return err
}

// swallow reads what the client still sends until it closes the connection.
func (c *conn) swallow(r io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		c.processed(n)
		if err != nil {
			return
		}
	}
}

// processed reports to a network in memory that n bytes of messages have been dealt with. With TLS it is of no use: the
// network carries more bytes than the messages have.
func (c *conn) processed(n int) {
	if mc, ok := c.Plain.(*memnet.Conn); ok {
		mc.Processed(n)
	}
}

// forget closes the connection and takes it from the server's list.
func (c *conn) forget() {
	c.close()
	rs := c.deployment
	rs.set.Lock()
	defer rs.set.Unlock()
	delete(c.server.conns, c)
	rs.set.ChangedLocked()
}

// errSilent leaves the connection open without ever answering on it.
var errSilent = errors.New("mongotest: the connection has fallen silent")

func (c *conn) handle(message []byte) error {
	h, err := wire.ParseHeader(message)
	if err != nil {
		return err
	}
	c.compressor, c.compressed = 0, false
	if h.OpCode == wire.OpCompressed {
		if message, err = c.decompress(message); err != nil {
			return err
		}
		if h, err = wire.ParseHeader(message); err != nil {
			return err
		}
	}
	c.Counts.Requests.Add(1)
	c.Counts.In.Add(int64(len(message)))
	if len(message) >= call.LongMessage {
		call.LetOthersPoll()
	}
	switch h.OpCode {
	case wire.OpMsg:
		return c.x.message(h, message)
	case wire.OpQuery:
		return c.x.query(h, message)
	case wire.OpGetMore:
		return c.x.refuseLegacy(h, "OP_GET_MORE")
	}
	return wire.ErrMalformed // the other old operations have no answer in which to say so
}
