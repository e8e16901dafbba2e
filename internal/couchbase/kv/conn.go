package kv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// Conn is a connection to one node. It is safe for concurrent use.
type Conn struct {
	config  *Config
	address string
	id      uint64
	raw     net.Conn // below TLS
	nc      net.Conn
	plain   bool // a write continues after a deadline
	made    time.Time

	features memd.Features
	errorMap *memd.ErrorMap
	firstMap []byte

	slots slots
	in    readBuffer // the reader's

	mu       sync.Mutex
	err      error // why the connection has ended; nil while it is open
	retired  error // why it takes no more requests; nil while it does
	bucket   string
	inFlight int // slots whose callers have not given them back
	requests uint64
	times    answerTimes

	// Writing.
	out, spare []byte // the packets that no write has been given, and the memory of the last write
	handed     int64  // the number of bytes that writes have been given
	writing    bool   // a caller or goroutine is the writer
	writer     *slot  // of the caller that writes, while its write runs
	stopped    bool   // the write deadline is in the past
	flushFunc  func() // flushes on a goroutine of its own

	// Reading.
	reader      *slot // of the leader; idle for the idle goroutine; nil if nobody reads
	idle        slot
	unread      int64         // since when nobody reads, in nanoseconds since the connection was made
	interrupted bool          // the read deadline is in the past
	lone        *loneExchange // nil if the connection has none
	alone       bool          // the leader is in a lone exchange
	followers   list          // the one that waits for the shortest time is the last

	// The timer. See timer.go.
	timer        *time.Timer
	armed        int64         // when the timer fires; never if it is not set
	ticking      time.Duration // it fires within this tick; 0 if it need not
	busy         bool          // many requests were made in the last tick
	requestsThen uint64        // the requests at the last tick
	lastTick     int64         // when a tick last found a new request
}

// never is a time that does not come, in nanoseconds since the connection was made.
const never = int64(1<<63 - 1)

func newConn(c *Config, address string, id uint64, raw, nc net.Conn) *Conn {
	conn := &Conn{
		config: c, address: address, id: id, raw: raw, nc: nc, plain: raw == nc && isPlain(nc), made: time.Now(), slots: newSlots(c.maxQueue()),
		armed: never,
	}
	conn.flushFunc = func() {
		conn.mu.Lock()
		defer conn.mu.Unlock()
		conn.flushLocked(nil)
	}
	if conn.plain {
		conn.lone = newLoneExchange(nc, conn.wroteAlone)
	}
	return conn
}

// Features returns the features that the server accepted.
func (c *Conn) Features() memd.Features { return c.features }

// ErrorMap returns the server's error map, or nil if it has none.
func (c *Conn) ErrorMap() *memd.ErrorMap { return c.errorMap }

// FirstMap returns the cluster map of the handshake: of the bucket if one was selected, else of the cluster. It is nil if the server
// gives none without a bucket, as old servers do. The caller must not change it.
func (c *Conn) FirstMap() []byte { return c.firstMap }

// Address returns the address that was dialled.
func (c *Conn) Address() string { return c.address }

// Remote returns the network address of the node, and Local that of this end.
func (c *Conn) Remote() string { return addressOf(c.raw.RemoteAddr()) }

// Local returns the network address of this end.
func (c *Conn) Local() string { return addressOf(c.raw.LocalAddr()) }

func addressOf(a net.Addr) string {
	if a == nil {
		return ""
	}
	return a.String()
}

// ID returns the ids of the client and of the connection, as they are in HELLO.
func (c *Conn) ID() string { return fmt.Sprintf("%016x/%016x", c.config.ClientID, c.id) }

// Bucket returns the selected bucket, "" if there is none.
func (c *Conn) Bucket() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bucket
}

// InFlight returns the number of requests whose callers wait.
func (c *Conn) InFlight() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inFlight
}

// LastUsed returns when the last request was sent, to some 20 ms. Before the first one it is when the connection was made.
func (c *Conn) LastUsed() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests != c.requestsThen {
		return time.Now()
	}
	return c.made.Add(time.Duration(c.lastTick))
}

// Err returns why the connection has ended, or nil while it is open. The error matches [ErrClosed].
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

var errClosedByOwner = errors.New("it was closed by its owner")

// Close ends the connection: the requests on it fail at once, with err as their cause. A nil err means that the owner wanted it. Only the
// first call, or the first failure, counts.
func (c *Conn) Close(err error) {
	if err == nil {
		err = errClosedByOwner
	}
	c.end(err)
}

// Retire makes the connection take no more requests: they fail before they are sent, with err as their cause. It closes the connection at
// once if no request is on its way, and reports whether it did.
func (c *Conn) Retire(err error) (closed bool) {
	c.mu.Lock()
	c.retired = &closedError{err}
	unused := c.inFlight == 0
	c.mu.Unlock()
	if unused {
		c.end(err)
	}
	return unused
}

// end ends the connection. Requests of which no write was given anything were not sent.
func (c *Conn) end(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = &closedError{err}
	c.out, c.spare = nil, nil
	c.slots.all(func(s *slot) { c.failLocked(s, c.err) })
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	c.closeQuietly()
	if c.config.OnClose != nil {
		c.config.OnClose(c, err)
	}
}

// failLocked ends the waiting of a slot with an error, if it waits. It reports whether it did.
func (c *Conn) failLocked(s *slot, err error) bool {
	generation := s.generation()
	if !s.claim(generation) {
		return false
	}
	s.err = &Error{Stage: retry.StageInFlight, Opaque: opaque(s.index, generation), Err: err}
	s.owed = true
	if s.start >= c.handed {
		s.err.Stage, s.owed = retry.StageBeforeSending, false
		c.unqueueLocked(s)
	}
	s.setState(stateEnded)
	s.rouse()
	return true
}

// SelectBucket makes a bucket the one of this connection. The error is an *[Error], or a *[HandshakeError] with the server's refusal.
func (c *Conn) SelectBucket(ctx context.Context, bucket string) error {
	r := Request{Opcode: memd.OpSelectBucket, Key: []byte(bucket), Cancelled: ctx.Done()}
	r.Deadline, _ = ctx.Deadline()
	var reply Reply
	if err := c.RoundTrip(&r, &reply); err != nil {
		return err
	}
	if err := bucketError(reply.Status); err != nil {
		return c.answerError(&reply.Packet, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bucket = bucket
	return nil
}
