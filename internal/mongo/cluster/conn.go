package cluster

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
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
	service     bson.ObjectID // behind a load balancer, zero elsewhere
	nc          net.Conn
	in          messageBuffer
	continues   bool  // the last message said that more is to come without being asked for
	lastMessage int32 // its number, which the next one answers
	broken      bool
	interrupted atomic.Bool
	abort       func() // ends a read or write that is under way
	lastUsed    time.Time
	checkedOut  time.Time
}

func newConn(nc net.Conn, id int64, address string) *Conn {
	c := &Conn{nc: nc, id: id, name: fmt.Sprintf("%s[-%d]", address, id)}
	c.abort = func() { _ = nc.SetDeadline(time.Unix(1, 0)) }
	return c
}

// ID returns the connection's number within its pool, starting from 1.
func (c *Conn) ID() int64 { return c.id }

// CheckedOut returns when the connection was checked out.
func (c *Conn) CheckedOut() time.Time { return c.checkedOut }

// Name returns the connection's name in command events.
func (c *Conn) Name() string { return c.name }

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

// Continues reports whether the last message said that another one comes without being asked for, which [Conn.Next]
// reads. Until that has come the connection can send nothing; checked in, it is closed.
func (c *Conn) Continues() bool { return c.continues }

// Next returns the next message of a reply that goes on (moreToCome), as [Conn.RoundTrip] does.
func (c *Conn) Next(ctx context.Context) ([]byte, error) {
	stop := c.watch(ctx)
	reply, err := c.read(c.lastMessage)
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

// read returns the next message, which must answer the request or the message with the number responseTo. No other
// message may have come with it, unless it says that more is to come.
func (c *Conn) read(responseTo int32) ([]byte, error) {
	message, err := c.in.next(c.nc, c.maxMessage())
	if err != nil {
		return nil, c.ioError(retry.StageInFlight, err)
	}
	h, err := wire.ParseHeader(message)
	c.continues = wire.MoreFollow(message)
	c.lastMessage = h.RequestID
	switch {
	case err != nil:
	case h.ResponseTo != responseTo:
		err = fmt.Errorf("%w: an answer to request %d where %d was asked", wire.ErrMalformed, h.ResponseTo, responseTo)
	case !c.continues && c.in.unread() > 0:
		err = fmt.Errorf("%w: %d bytes behind the answer", wire.ErrMalformed, c.in.unread())
	}
	if err != nil {
		return nil, c.ioError(retry.StageInFlight, err)
	}
	return message, nil
}

// maxMessage is the server's own limit, but no more than any server has: the buffer is made before the bytes come.
func (c *Conn) maxMessage() int {
	if c.Description != nil && c.Description.MaxMessageSize > 0 {
		return min(int(c.Description.MaxMessageSize), wire.MaxMessageLength)
	}
	return wire.MaxMessageLength
}

// usable reports whether an idle connection may serve another operation.
func (c *Conn) usable(now time.Time) bool {
	return now.Sub(c.lastUsed) < idleProbeAfter || openAndSilent(c.nc)
}

// Reusable reports whether a connection that an operation has used may serve another one.
func (c *Conn) Reusable() bool { return !c.broken && !c.continues && !c.interrupted.Load() }

// dropLargeBuffers gives up the buffers that one large message made.
func (c *Conn) dropLargeBuffers() {
	if cap(c.Out) > keptBuffer {
		c.Out = nil
	}
	c.in.shrink()
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
