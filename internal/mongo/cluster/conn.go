package cluster

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/largebuffer"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/telemetry"
)

// Conn is one connection. Only the goroutine that checked it out may use it. It is not safe for concurrent use, but
// its pool may interrupt it at any time.
type Conn struct {
	// Description is the server description from this connection's handshake.
	Description *topology.Server
	// Out is the buffer for the next message.
	Out []byte
	// Admit, if it is not nil, is called before a reply of more than [LargeReply] bytes is read. Its error ends the operation, and the connection.
	Admit func(ctx context.Context, length int) error

	id          int64
	name        string // "host:port[-id]", for command events
	generation  uint64
	service     bson.ObjectID // its serviceId behind a load balancer, else zero
	nc          net.Conn
	both        writeAwaiter // nc, if it is one
	in          messageBuffer
	compression compression
	share       *share      // in the pool that has it; nil if none has
	login       *auth.Login // nil if the connection does not log in
	hello       bson.Raw    // the last reply to hello; valid until the next use of the connection
	continues   bool        // the last message had the flag moreToCome
	lastMessage int32       // its requestID; the next message of the reply answers it
	owed        int32       // the requestID of a message whose reply was not read, because its context ended; 0: none
	inUse       bool        // a read or a write runs; it stays true if the application's net.Conn panics
	broken      bool
	failure     error                 // why it is broken
	interrupted atomic.Pointer[error] // why its pool has interrupted it; nil if it has not
	lazy        bool                  // contexts are not watched at once: on plain sockets, after the handshake
	deadline    time.Time             // of the socket; zero if it has none
	abort       func()                // ends a running read or write
	aborted     chan struct{}         // gets a value when abort has ended
	firstRTT    time.Duration         // the round trip time of the handshake's hello
	lastUsed    time.Time
	checkedOut  time.Time
	yields      bool                 // it is given up for a waiter; under the pool's lock
	use         atomic.Uint32        // a Use
	told        *telemetry.PoolEvent // the last one of a checkout or a check in, if all only look
}

// Use is what a connection that is checked out is for.
type Use uint32

// The uses. A cursor, a transaction or a request keeps its connection between operations.
const (
	UseOperation Use = iota
	UseCursor
	UseTransaction
	UseRequest
)

// PinnedTo notes what the connection stays checked out for.
func (c *Conn) PinnedTo(use Use) { c.use.Store(uint32(use)) }

func (c *Conn) pinned() bool { return Use(c.use.Load()) != UseOperation }

// ServiceID returns the serviceId of the connection's server behind a load balancer, else nil.
func (c *Conn) ServiceID() *bson.ObjectID {
	if c.service.IsZero() {
		return nil
	}
	return &c.service
}

func newConn(nc net.Conn, id int64, address string) *Conn {
	c := &Conn{nc: nc, id: id, name: fmt.Sprintf("%s[-%d]", address, id), aborted: make(chan struct{}, 1)}
	c.both, _ = nc.(writeAwaiter)
	c.abort = func() {
		c.wake()
		c.aborted <- struct{}{}
	}
	return c
}

// ID returns the connection's number within its pool. The first is 1.
func (c *Conn) ID() int64 { return c.id }

// CheckedOut returns when the connection was checked out.
func (c *Conn) CheckedOut() time.Time { return c.checkedOut }

// Name returns the connection's name in command events.
func (c *Conn) Name() string { return c.name }

// Send writes a message that has no reply.
func (c *Conn) Send(ctx context.Context, message []byte) error {
	w := c.watch(ctx)
	defer w.abandon()
	err := c.write(&w, message, false)
	return c.done(&w, err)
}

// RoundTrip writes message, whose requestID must be the given one, and returns the reply. Its bytes are valid until
// the next use of the connection, or until it is checked in. An I/O failure is an *IOError. If ctx ends while the reply
// is on its way, the pool reads it after the check in, so that the connection can be used again.
func (c *Conn) RoundTrip(ctx context.Context, message []byte, requestID int32) ([]byte, error) {
	w := c.watch(ctx)
	defer w.abandon()
	err := c.write(&w, message, true)
	var reply []byte
	if err == nil {
		c.owed = requestID
		reply, err = c.read(&w, requestID)
	}
	if err := c.done(&w, err); err != nil {
		return nil, err
	}
	return reply, nil
}

// Continues reports whether the last message had the flag moreToCome: [Conn.Next] reads the next message of the
// reply. Until the last one was read, the connection must not send; if it is checked in before, it is closed.
func (c *Conn) Continues() bool { return c.continues }

// Next returns the next message of a reply that continues (moreToCome), like [Conn.RoundTrip].
func (c *Conn) Next(ctx context.Context) ([]byte, error) {
	w := c.watch(ctx)
	defer w.abandon()
	reply, err := c.read(&w, c.lastMessage)
	if err := c.done(&w, err); err != nil {
		return nil, err
	}
	return reply, nil
}

// done ends the watch. It replaces an error that the context or an interruption caused by that cause.
func (c *Conn) done(w *watch, err error) error {
	ended := w.end()
	c.inUse = false
	if err == nil {
		return nil
	}
	ioErr, ok := err.(*IOError) //nolint:errorlint // made by write and read, never wrapped
	if !ok || !ended || c.owed == 0 || !ioErr.Timeout() {
		c.broken, c.failure = true, err
	}
	switch {
	case !ok:
	case w.ctx.Err() != nil:
		ioErr.Err = context.Cause(w.ctx)
	case c.interruption() != nil:
		ioErr.Err = c.interruption()
	}
	return err
}

func (c *Conn) ioError(stage retry.Stage, err error) error {
	return &IOError{Address: c.address(), Connection: c.name, Stage: stage, Err: err}
}

func (c *Conn) address() string {
	if c.Description != nil {
		return c.Description.Address
	}
	return c.name
}

// writeAwaiter is a connection that writes and waits for the reply with fewer system calls. It needs a deadline.
type writeAwaiter interface {
	WriteAndAwait(b []byte) (int, error)
}

func (c *Conn) write(w *watch, message []byte, awaits bool) error {
	message, err := c.compression.compress(message)
	if err != nil {
		return c.ioError(retry.StageBeforeSending, err)
	}
	sent := 0
	for {
		var n int
		if awaits && w.lazy && c.both != nil {
			n, err = c.both.WriteAndAwait(message[sent:])
		} else {
			n, err = c.nc.Write(message[sent:])
		}
		sent += n
		switch {
		case err == nil:
			return nil
		case w.goOn(err):
		case sent == 0:
			return c.ioError(retry.StageBeforeSending, err)
		default:
			return c.ioError(retry.StageInFlight, err)
		}
	}
}

// read returns the next message, whose responseTo must be the given one. No more bytes may have arrived after it,
// unless it has the flag moreToCome.
func (c *Conn) read(w *watch, responseTo int32) ([]byte, error) {
	message, err := c.nextMessage(w)
	if err == nil {
		c.owed = 0
		err = c.admitDecompressed(w.ctx, message)
	}
	if err == nil {
		message, err = c.compression.decompress(w.ctx, message, c.maxMessage())
	}
	if err != nil {
		return nil, c.ioError(retry.StageInFlight, err)
	}
	h, err := wire.ParseHeader(message)
	c.continues = wire.MoreFollow(message)
	c.lastMessage = h.RequestID
	switch {
	case err != nil:
	case h.ResponseTo != responseTo:
		err = fmt.Errorf("%w: responseTo is %d, it must be %d", wire.ErrMalformed, h.ResponseTo, responseTo)
	case !c.continues && c.in.unread() > 0:
		err = fmt.Errorf("%w: %d unexpected bytes after the reply", wire.ErrMalformed, c.in.unread())
	}
	if err != nil {
		return nil, c.ioError(retry.StageInFlight, err)
	}
	return message, nil
}

// maxMessage returns the server's maxMessageSizeBytes, but at most MaxMessageLength: the buffer is allocated before
// the bytes arrive, and a server may state any limit.
func (c *Conn) maxMessage() int {
	if c.Description != nil && c.Description.MaxMessageSize > 0 {
		return min(int(c.Description.MaxMessageSize), wire.MaxMessageLength)
	}
	return wire.MaxMessageLength
}

// usable reports whether an operation may use an idle connection.
func (c *Conn) usable(now time.Time) bool {
	if now.Sub(c.lastUsed) < idleProbeAfter {
		return true
	}
	c.clearDeadline()
	return openAndSilent(c.nc)
}

// Reusable reports whether another operation may use the connection.
func (c *Conn) Reusable() bool { return c.sound() && c.owed == 0 }

// sound reports whether another operation may use the connection when a reply that is owed was read.
func (c *Conn) sound() bool {
	return !c.inUse && !c.broken && !c.continues && c.interruption() == nil
}

// dropLargeBuffers drops the buffers that a large message has grown.
func (c *Conn) dropLargeBuffers() {
	if cap(c.Out) > largebuffer.Least {
		largebuffer.Put(c.Out)
		c.Out = nil
	}
	c.in.shrink()
	c.compression.dropLargeBuffers()
}

// UseBuffer gives the connection a large buffer for the next reply, whose memory nobody uses any more. A small one is left alone.
func (c *Conn) UseBuffer(b []byte) {
	if cap(b) > largebuffer.Least {
		c.exchangeBuffer(c.compression.with != wire.NoCompressor, b[:0])
	}
}

// TakeBuffer returns the buffer of the last reply, if that is a large one, else nil. The connection does not use it any more.
func (c *Conn) TakeBuffer() []byte {
	b := c.in.bytes
	if c.compression.compressed {
		b = c.compression.in
	}
	if cap(b) <= largebuffer.Least || c.in.unread() > 0 {
		return nil
	}
	c.exchangeBuffer(c.compression.compressed, nil)
	return b
}

// exchangeBuffer replaces the buffer that compressed or other replies are in. No unread bytes may be in it.
func (c *Conn) exchangeBuffer(compressed bool, b []byte) {
	if compressed {
		c.compression.in = b
	} else if c.in.unread() == 0 {
		c.in.bytes, c.in.start = b, 0
	}
}

// rest drops the buffers of a monitor's connection, which is idle until the next hello.
func (c *Conn) rest() {
	if c.in.unread() == 0 {
		c.Out, c.hello, c.in = nil, nil, messageBuffer{least: helloReadBuffer}
	}
}

// interrupt ends what the connection does with the error cause, and makes it unusable.
func (c *Conn) interrupt(cause error) {
	c.interrupted.Store(&cause)
	c.wake()
}

// interruption returns the cause of an interruption, or nil.
func (c *Conn) interruption() error {
	if cause := c.interrupted.Load(); cause != nil {
		return *cause
	}
	return nil
}

// wake ends a running read or write. If the application's net.Conn panics, it closes the connection instead.
func (c *Conn) wake() {
	defer func() {
		if recover() != nil {
			c.close()
		}
	}()
	_ = c.nc.SetDeadline(past)
}

func (c *Conn) close() { closeQuietly(c.nc) }

// Broken marks the connection as unusable, because its server broke the protocol, and returns err as an *IOError.
func (c *Conn) Broken(err error) error {
	c.broken, c.failure = true, c.ioError(retry.StageInFlight, err)
	return c.failure
}
