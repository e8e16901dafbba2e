package services

import (
	"errors"
	"net"
	"sync/atomic"

	"github.com/holdfast-db/holdfast/internal/couchbase/pools"
)

// errSealed is the error of a write after the caller was told that nothing had been sent.
var errSealed = errors.New("the request was given up before it was sent")

// What the current request did with its connection.
const (
	nothingWritten int32 = iota
	written              // a write has begun
	sealed               // nothing was written, and nothing will be
)

// conn is a connection that knows whether the current request began to be written. Net/http writes in a goroutine of its own, also
// after the request's context has ended: without the seal a request that was reported as not sent could still be sent.
type conn struct {
	net.Conn
	state  atomic.Int32
	lost   atomic.Pointer[error] // with which the other end, or the network, ended the connection
	closed atomic.Bool           // this end did
	ended  func(*conn)           // called once, by Close
	pooled *pools.Conn
	// user is the exchange that has it, nil if none has. abandoned means that the last one did not read its answer to the end.
	user      atomic.Pointer[exchange]
	abandoned atomic.Bool
}

// busy reports whether an exchange has the connection.
func (c *conn) busy() bool { return c.user.Load() != nil }

// begin makes the connection ready for its next request.
func (c *conn) begin() { c.state.CompareAndSwap(written, nothingWritten) }

// seal reports whether nothing of the request was written. If so, nothing will be.
func (c *conn) seal() bool {
	return c.state.CompareAndSwap(nothingWritten, sealed) || c.state.Load() == sealed
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	first := c.state.CompareAndSwap(nothingWritten, written)
	if !first && c.state.Load() == sealed {
		return 0, errSealed
	}
	n, err := c.Conn.Write(b)
	c.note(err)
	if err != nil && n == 0 && first {
		c.state.CompareAndSwap(written, nothingWritten)
	}
	return n, err
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.note(err)
	return n, err
}

// note remembers that the connection was lost.
func (c *conn) note(err error) {
	if err != nil && !c.closed.Load() {
		c.lost.Store(&err)
	}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	first := !c.closed.Swap(true) // before the close, whose effect on a read is no loss of the connection
	err := c.Conn.Close()
	if first {
		c.ended(c)
	}
	return err
}
