package memnet

import (
	"errors"
	"io"
	"net"
	"time"
)

// networkName is what the addresses say of their network.
const networkName = "memory"

// Addr is an address on a network in memory, "host:port".
type Addr string

// Network returns "memory".
func (a Addr) Network() string { return networkName }

// String returns the host and the port.
func (a Addr) String() string { return string(a) }

// Conn is one end of a connection in memory.
type Conn struct {
	in, out       *stream
	local, remote Addr
	latency       func() time.Duration
}

var _ net.Conn = (*Conn)(nil)

// Pipe returns the two ends of a connection without latency.
func Pipe() (client, server *Conn) {
	return newPair("client:1", "server:1", func() time.Duration { return 0 })
}

func newPair(client, server Addr, latency func() time.Duration) (*Conn, *Conn) {
	up, down := newStream(), newStream()
	return &Conn{in: down, out: up, local: client, remote: server, latency: latency},
		&Conn{in: up, out: down, local: server, remote: client, latency: latency}
}

// Read reads bytes that have arrived, and waits if there are none.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.in.read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = c.failed("read", err)
	}
	return n, err
}

// Write sends bytes. It waits only while the other end has too much unread: some megabytes, as on TCP.
func (c *Conn) Write(b []byte) (int, error) {
	n, err := c.out.write(b, c.latency())
	if err != nil {
		err = c.failed("write", err)
	}
	return n, err
}

// Close closes both directions. The other end still reads the bytes written before. It always returns nil.
func (c *Conn) Close() error {
	c.out.closeWriting()
	c.in.closeReading()
	return nil
}

// CloseWrite ends this end's direction: the other end reads the bytes written before, then io.EOF, and can still write. It
// always returns nil.
func (c *Conn) CloseWrite() error {
	c.out.closeWriting()
	return nil
}

// CloseRead drops the bytes that have not been read. Writes of the other end fail from now on. It always returns nil.
func (c *Conn) CloseRead() error {
	c.in.closeReading()
	return nil
}

// Abort closes the connection, and loses what this end wrote and has not arrived yet. The other end reads what has
// arrived, then err: syscall.ECONNRESET is what the end of a process causes, syscall.ETIMEDOUT what the loss of a
// network causes.
func (c *Conn) Abort(err error) {
	c.out.abort(err)
	_ = c.Close()
}

// OpenAndSilent reports whether the connection is open and has nothing to read: a read would wait. Clients ask this before
// they use a connection that was idle.
func (c *Conn) OpenAndSilent() bool { return c.in.openAndSilent() }

// Ended reports whether a read would return an error.
func (c *Conn) Ended() bool { return c.in.atEnd() }

// Processed reports that n more of the bytes that came to this end have been dealt with, see [Network.Unprocessed].
func (c *Conn) Processed(n int) { c.in.processed(int64(n)) }

// LocalAddr returns the address of this end.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the address of the other end.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets both deadlines. It always returns nil.
func (c *Conn) SetDeadline(t time.Time) error {
	_ = c.SetWriteDeadline(t)
	return c.SetReadDeadline(t)
}

// SetReadDeadline sets when reads fail with os.ErrDeadlineExceeded, those that wait and later ones. The zero time is
// never. It always returns nil.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.readBy, t)
	return nil
}

// SetWriteDeadline is SetReadDeadline for writes.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.out.setDeadline(&c.out.writeBy, t)
	return nil
}

func (c *Conn) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: networkName, Source: c.local, Addr: c.remote, Err: err}
}
