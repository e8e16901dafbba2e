package mongotest

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// half is one direction of an in-memory connection. Nothing waits while holding its mutex, except on its condition, which
// a synctest bubble counts as durable; that is why net.Pipe is not used.
type half struct {
	mu     sync.Mutex
	cond   sync.Cond
	chunks []chunk
	buf    []byte // what has arrived
	off    int    // how much of buf has been read
	eof    bool   // the writer closed
	broken bool   // the reader closed
	gone   bool   // the connection was reset: what had not arrived is lost

	deadline time.Time
	timer    *time.Timer // for the deadline; runs only while there is one
	arrival  *time.Timer // for the next chunk
	last     time.Time   // when the newest chunk arrives

	total int64         // bytes written
	count *atomic.Int64 // if not nil, counts the bytes written by all clients and not yet accounted for by the server
}

// chunk is bytes on their way.
type chunk struct {
	at   time.Time
	data []byte
}

func newHalf() *half {
	h := &half{}
	h.cond.L = &h.mu
	return h
}

// write hands bytes over, to arrive after delay but not before those written earlier.
func (h *half) write(b []byte, delay time.Duration) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.eof:
		return 0, net.ErrClosed
	case h.broken:
		return 0, syscall.EPIPE
	}
	if h.count != nil {
		h.total += int64(len(b))
		h.count.Add(int64(len(b)))
	}
	if delay == 0 && len(h.chunks) == 0 {
		h.appendLocked(b)
		h.cond.Broadcast()
		return len(b), nil
	}
	at := time.Now().Add(delay)
	if at.Before(h.last) {
		at = h.last
	}
	h.last = at
	h.chunks = append(h.chunks, chunk{at, append([]byte(nil), b...)})
	h.scheduleLocked()
	return len(b), nil
}

// scheduleLocked arranges that the first chunk on its way arrives in time.
func (h *half) scheduleLocked() {
	if len(h.chunks) == 0 {
		return
	}
	d := time.Until(h.chunks[0].at)
	if h.arrival == nil {
		h.arrival = time.AfterFunc(d, h.arrive)
		return
	}
	h.arrival.Reset(d)
}

func (h *half) arrive() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for len(h.chunks) > 0 && !now.Before(h.chunks[0].at) {
		h.appendLocked(h.chunks[0].data)
		h.chunks = h.chunks[1:]
	}
	h.scheduleLocked()
	h.cond.Broadcast()
}

func (h *half) read(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.broken:
			return 0, net.ErrClosed
		case h.expiredLocked():
			return 0, os.ErrDeadlineExceeded
		case len(h.buf) > h.off || len(b) == 0:
			return h.takeLocked(b), nil
		case h.gone:
			return 0, syscall.ECONNRESET
		case h.eof && len(h.chunks) == 0:
			return 0, io.EOF
		}
		h.cond.Wait()
	}
}

// appendLocked adds bytes that arrived, first moving what is unread to the front if most of the buffer has been read.
func (h *half) appendLocked(b []byte) {
	if h.off > 0 && h.off >= len(h.buf)/2 {
		rest := copy(h.buf, h.buf[h.off:])
		h.buf, h.off = h.buf[:rest], 0
	}
	h.buf = append(h.buf, b...)
}

func (h *half) takeLocked(b []byte) int {
	n := copy(b, h.buf[h.off:])
	h.off += n
	if h.off < len(h.buf) {
		return n
	}
	h.buf, h.off = h.buf[:0], 0
	if cap(h.buf) > 1<<20 {
		h.buf = nil
	}
	return n
}

func (h *half) expiredLocked() bool {
	return !h.deadline.IsZero() && !time.Now().Before(h.deadline)
}

// setDeadline sets until when a read may wait; the timer only wakes the reader, which looks at the clock itself.
func (h *half) setDeadline(t time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deadline = t
	switch {
	case t.IsZero():
		if h.timer != nil {
			h.timer.Stop()
		}
	case h.timer == nil:
		h.timer = time.AfterFunc(time.Until(t), h.wake)
	default:
		h.timer.Reset(time.Until(t))
	}
	h.cond.Broadcast()
}

func (h *half) wake() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cond.Broadcast()
}

// finish tells the reader that nothing more will be written.
func (h *half) finish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.eof = true
	h.cond.Broadcast()
}

// breakOff tells the writer that nothing more will be read.
func (h *half) breakOff() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broken = true
	h.chunks, h.buf, h.off = nil, nil, 0
	for _, t := range []*time.Timer{h.timer, h.arrival} {
		if t != nil {
			t.Stop()
		}
	}
	h.cond.Broadcast()
}

// reset loses what has not arrived.
func (h *half) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone, h.chunks = true, nil
	h.cond.Broadcast()
}

// memConn is one end of an in-memory connection.
type memConn struct {
	in, out       *half
	local, remote memAddr
	delay         func() time.Duration

	mu       sync.Mutex
	writeEnd time.Time
}

var _ net.Conn = (*memConn)(nil)

// memAddr is a virtual host and port.
type memAddr string

func (a memAddr) Network() string { return "mongotest" }
func (a memAddr) String() string  { return string(a) }

// newPipe returns the two ends of an in-memory connection, the dialling one first.
func newPipe(client, server memAddr, delay func() time.Duration) (*memConn, *memConn) {
	up, down := newHalf(), newHalf()
	return &memConn{in: down, out: up, local: client, remote: server, delay: delay},
		&memConn{in: up, out: down, local: server, remote: client, delay: delay}
}

func (c *memConn) Read(b []byte) (int, error) {
	n, err := c.in.read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = c.wrap("read", err)
	}
	return n, err
}

// Write never waits: the buffers are as large as needed. A deadline that has passed still fails it.
func (c *memConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	expired := !c.writeEnd.IsZero() && !time.Now().Before(c.writeEnd)
	c.mu.Unlock()
	if expired {
		return 0, c.wrap("write", os.ErrDeadlineExceeded)
	}
	n, err := c.out.write(b, c.delay())
	if err != nil {
		err = c.wrap("write", err)
	}
	return n, err
}

func (c *memConn) wrap(op string, err error) error {
	return &net.OpError{Op: op, Net: c.local.Network(), Source: c.local, Addr: c.remote, Err: err}
}

func (c *memConn) Close() error {
	c.out.finish()
	c.in.breakOff()
	return nil
}

// abort closes the connection as the end of a process does: what is on its way is lost.
func (c *memConn) abort() {
	c.out.reset()
	_ = c.Close()
}

func (c *memConn) LocalAddr() net.Addr  { return c.local }
func (c *memConn) RemoteAddr() net.Addr { return c.remote }

func (c *memConn) SetDeadline(t time.Time) error {
	_ = c.SetWriteDeadline(t)
	return c.SetReadDeadline(t)
}

func (c *memConn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(t)
	return nil
}

func (c *memConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeEnd = t
	return nil
}

// written returns how many bytes were written into this direction.
func (h *half) written() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.total
}
