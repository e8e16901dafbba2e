package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

const (
	firstReadBuffer = 4 << 10
	keptBuffer      = 1 << 20 // a buffer that one large message grew beyond this is not kept
)

// Conn is one connection. It belongs to whoever checked it out and is not safe for concurrent use, except that its pool
// may interrupt it.
type Conn struct {
	// Description is the server as it was at this connection's handshake.
	Description *topology.Server
	// Out is the buffer in which the owner builds its next message.
	Out []byte

	id          int64
	name        string // "host:port[-id]", as command events show it
	generation  uint64
	nc          net.Conn
	in          []byte
	broken      bool
	interrupted atomic.Bool
	abort       func() // ends a read or write that is under way
	lastUsed    time.Time
	checkedOut  time.Time
}

func newConn(nc net.Conn, id int64, address string) *Conn {
	c := &Conn{nc: nc, id: id, name: fmt.Sprintf("%s[-%d]", address, id), in: make([]byte, 0, firstReadBuffer)}
	c.abort = func() { _ = nc.SetDeadline(time.Unix(1, 0)) }
	return c
}

// ID returns the connection's number within its pool, starting from 1.
func (c *Conn) ID() int64 { return c.id }

// CheckedOut returns when the connection was checked out.
func (c *Conn) CheckedOut() time.Time { return c.checkedOut }

// Name returns the connection's name in command events.
func (c *Conn) Name() string { return c.name }

// IOError is a connection that broke. Stage is known here, where the bytes were written.
type IOError struct {
	Address string
	Stage   retry.Stage
	Err     error
}

// Error returns what broke and how far the message had come.
func (e *IOError) Error() string {
	return fmt.Sprintf("connection to %s failed (%s): %v", e.Address, e.Stage, e.Err)
}

// Unwrap returns the cause.
func (e *IOError) Unwrap() error { return e.Err }

// Timeout tells whether a time limit broke the connection.
func (e *IOError) Timeout() bool {
	var ne net.Error
	return errors.As(e.Err, &ne) && ne.Timeout()
}

// Send writes a message to which no reply will come.
func (c *Conn) Send(ctx context.Context, message []byte) error {
	stop := c.watch(ctx)
	err := c.write(message)
	return c.done(ctx, stop, err)
}

// RoundTrip writes message, whose request id must be requestID, and returns the reply's bytes. They are valid until the
// connection is used again or checked in.
func (c *Conn) RoundTrip(ctx context.Context, message []byte, requestID int32) ([]byte, error) {
	stop := c.watch(ctx)
	err := c.write(message)
	var reply []byte
	if err == nil {
		reply, err = c.read(requestID)
	}
	if err := c.done(ctx, stop, err); err != nil {
		return nil, err
	}
	return reply, nil
}

// watch makes the end of ctx end reads and writes. It costs nothing where ctx cannot end.
func (c *Conn) watch(ctx context.Context) func() bool {
	if ctx.Done() == nil {
		return nil
	}
	return context.AfterFunc(ctx, c.abort)
}

// done ends the watch and gives an error its true cause.
func (c *Conn) done(ctx context.Context, stop func() bool, err error) error {
	if stop != nil && !stop() {
		c.broken = true // its deadline is set, or will be
	}
	if err == nil {
		return nil
	}
	c.broken = true
	ioErr, ok := err.(*IOError) //nolint:errorlint // made by write and read, never wrapped
	if !ok {
		return err
	}
	switch {
	case ctx.Err() != nil:
		ioErr.Err = context.Cause(ctx)
	case c.interrupted.Load():
		ioErr.Err = errInterrupted
	}
	return err
}

var errInterrupted = errors.New("interrupted: the server did not answer its monitor, or the client was disconnected")

func (c *Conn) ioError(stage retry.Stage, err error) error {
	return &IOError{Address: c.address(), Stage: stage, Err: err}
}

func (c *Conn) address() string {
	if c.Description != nil {
		return c.Description.Address
	}
	return c.name
}

func (c *Conn) write(message []byte) error {
	n, err := c.nc.Write(message)
	if err == nil {
		return nil
	}
	if n == 0 {
		return c.ioError(retry.StageDispatch, err)
	}
	return c.ioError(retry.StageInFlight, err)
}

// read returns the next message, which must be an OP_MSG that answers requestID and the only one there.
func (c *Conn) read(requestID int32) ([]byte, error) {
	message, err := c.readMessage()
	if err != nil {
		return nil, c.ioError(retry.StageInFlight, err)
	}
	h, err := wire.ParseHeader(message)
	if err == nil && h.ResponseTo != requestID {
		err = fmt.Errorf("%w: an answer to request %d where %d was asked", wire.ErrMalformed, h.ResponseTo, requestID)
	}
	if err != nil {
		return nil, c.ioError(retry.StageInFlight, err)
	}
	return message, nil
}

// readMessage reads one message with as few reads as possible: most replies come whole with the first.
func (c *Conn) readMessage() ([]byte, error) {
	if cap(c.in) > keptBuffer {
		c.in = make([]byte, 0, firstReadBuffer)
	}
	buf, length := c.in[:0], 0
	for length == 0 || len(buf) < length {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := c.nc.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if length == 0 && len(buf) >= wire.HeaderLength {
			if length, err = c.messageLength(buf, err); length > cap(buf) {
				buf = append(make([]byte, 0, length), buf...)
			}
		}
		if err != nil && (length == 0 || len(buf) < length) {
			return nil, notEOF(err, len(buf))
		}
	}
	c.in = buf
	if len(buf) > length {
		return nil, fmt.Errorf("%w: %d bytes behind the answer", wire.ErrMalformed, len(buf)-length)
	}
	return buf, nil
}

func (c *Conn) messageLength(b []byte, readErr error) (int, error) {
	n := int(int32(binary.LittleEndian.Uint32(b)))
	if n < wire.HeaderLength || n > c.maxMessage() {
		return 0, fmt.Errorf("%w: a message says it has %d bytes", wire.ErrMalformed, n)
	}
	return n, readErr
}

// maxMessage is the server's own limit, but no more than any server has: the buffer is made before the bytes come.
func (c *Conn) maxMessage() int {
	if c.Description != nil && c.Description.MaxMessageSize > 0 {
		return min(int(c.Description.MaxMessageSize), wire.MaxMessageLength)
	}
	return wire.MaxMessageLength
}

// notEOF names the end of a connection for what it is to someone who waits for an answer.
func notEOF(err error, got int) error {
	if errors.Is(err, io.EOF) && got > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// usable tells whether the connection may serve another operation.
func (c *Conn) usable(now time.Time) bool {
	return now.Sub(c.lastUsed) < idleProbeAfter || quiet(c.nc)
}

func (c *Conn) interrupt() {
	c.interrupted.Store(true)
	c.abort()
}

func (c *Conn) close() { _ = c.nc.Close() }

// Broken returns err as the failure of the connection, which is not used again: the server broke the protocol.
func (c *Conn) Broken(err error) error {
	c.broken = true
	return c.ioError(retry.StageInFlight, err)
}
