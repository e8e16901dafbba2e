package cluster

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// stream is one direction of a connection in memory. Its buffer has no limit, so a write never waits; a read waits on a
// condition, which the fake clock of testing/synctest knows for a wait.
type stream struct {
	mu     sync.Mutex
	cond   *sync.Cond
	buf    []byte
	end    error // what the reader meets after buf
	broken error // what the reader meets at once
}

func newStream() *stream {
	s := &stream{}
	s.cond = sync.NewCond(&s.mu)
	return s
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.broken != nil:
			return 0, s.broken
		case len(s.buf) > 0:
			n := copy(b, s.buf)
			s.buf = s.buf[n:]
			return n, nil
		case s.end != nil:
			return 0, s.end
		}
		s.cond.Wait()
	}
}

func (s *stream) write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil || s.end != nil {
		return 0, syscall.EPIPE
	}
	s.buf = append(s.buf, b...)
	s.cond.Broadcast()
	return len(b), nil
}

func (s *stream) set(field *error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*field = err
	s.cond.Broadcast()
}

// memConn is one end of a connection in memory. The only deadline it knows is one that has passed.
type memConn struct {
	in, out *stream
	mu      sync.Mutex
	expired bool
	closed  bool
}

func memPipe() (*memConn, *memConn) {
	a, b := newStream(), newStream()
	return &memConn{in: a, out: b}, &memConn{in: b, out: a}
}

func (c *memConn) Read(b []byte) (int, error) { return c.in.read(b) }

func (c *memConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return 0, net.ErrClosed
	case c.expired:
		return 0, os.ErrDeadlineExceeded
	}
	return c.out.write(b)
}

func (c *memConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.in.set(&c.in.broken, net.ErrClosed)
	c.out.set(&c.out.end, io.EOF)
	return nil
}

func (c *memConn) SetDeadline(t time.Time) error {
	if t.IsZero() || t.After(time.Unix(1, 0)) {
		panic("only deadlines that have passed are used")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expired = true
	if !c.closed {
		c.in.set(&c.in.broken, os.ErrDeadlineExceeded)
	}
	return nil
}

func (c *memConn) SetReadDeadline(t time.Time) error  { return c.SetDeadline(t) }
func (c *memConn) SetWriteDeadline(t time.Time) error { return c.SetDeadline(t) }
func (c *memConn) LocalAddr() net.Addr                { return &net.TCPAddr{} }
func (c *memConn) RemoteAddr() net.Addr               { return &net.TCPAddr{} }
