//go:build linux && (amd64 || arm64) && !race

package rawsocket

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// most is the size in bytes of the largest piece: to copy it takes the kernel some microseconds.
const most = 64 << 10

// Of returns a connection that reads and writes as the package says, if c is one over TCP, else c. At most one goroutine at a time may read it, and
// at most one may write it.
func Of(c net.Conn) net.Conn {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return c
	}
	r := &conn{TCPConn: t}
	r.in.await, r.in.do = raw.Read, r.in.read
	r.both.await, r.both.do = raw.Read, r.both.writeOnce
	r.out.await, r.out.do = raw.Write, r.out.write
	return r
}

// conn is a TCP connection. What is not a read or a write of a small piece is that of package net.
type conn struct {
	*net.TCPConn
	in, out call
	both    call // see WriteAndAwait
}

// call is a read or a write that runs.
type call struct {
	await func(do func(fd uintptr) bool) error // of the RawConn: makes the call, and again when the socket is ready, until do is done
	do    func(fd uintptr) bool
	bytes []byte
	n     int // bytes that are done
	errno syscall.Errno
}

func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 || len(p) > most {
		return c.TCPConn.Read(p)
	}
	n, err := c.in.run(p)
	switch {
	case err != nil:
		return n, c.opError("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (c *conn) Write(p []byte) (int, error) {
	if len(p) == 0 || len(p) > most {
		return c.TCPConn.Write(p)
	}
	n, err := c.out.run(p)
	if err != nil {
		err = c.opError("write", err)
	}
	return n, err
}

// WriteAndAwait writes p, and waits for something to read, which the next Read returns: so that need not ask first whether there is anything. It does
// not notice what came, or the end of the stream, before the call, so the connection must have a deadline. The error is that of writing.
func (c *conn) WriteAndAwait(p []byte) (int, error) {
	if len(p) == 0 || len(p) > most {
		return c.TCPConn.Write(p)
	}
	n, err := c.both.run(p)
	switch {
	case n == len(p):
		return n, nil // an error of the wait is that of the next Read, too
	case err != nil:
		return n, c.opError("write", err)
	}
	rest, err := c.TCPConn.Write(p[n:])
	return n + rest, err
}

// opError returns an error of package net, as its own method would have it.
func (c *conn) opError(op string, err error) error {
	var e *net.OpError
	if errors.As(err, &e) { // that of a RawConn
		err = e.Err
	} else {
		err = os.NewSyscallError(op, err)
	}
	return &net.OpError{Op: op, Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

func (c *call) run(p []byte) (int, error) {
	c.bytes, c.n, c.errno = p, 0, 0
	err := c.await(c.do)
	c.bytes = nil
	if err == nil && c.errno != 0 {
		err = c.errno
	}
	return c.n, err
}

// read reports whether there were bytes, the end or an error. If not, the socket is awaited.
func (c *call) read(fd uintptr) bool {
	n, errno := system(syscall.SYS_RECVFROM, fd, c.bytes)
	if errno == syscall.EAGAIN {
		return false
	}
	c.n, c.errno = max(0, n), errno
	return true
}

// write reports whether all bytes were written, or there was an error.
func (c *call) write(fd uintptr) bool {
	for c.n < len(c.bytes) {
		n, errno := system(syscall.SYS_SENDTO, fd, c.bytes[c.n:])
		switch {
		case errno == syscall.EAGAIN:
			return false
		case errno != 0:
			c.errno = errno
			return true
		}
		c.n += n
	}
	return true
}

// writeOnce writes when it is called first, and then has the socket awaited unless it could not write all.
func (c *call) writeOnce(fd uintptr) bool {
	return c.n == len(c.bytes) || !c.write(fd) || c.errno != 0
}

// system makes a system call with a socket, which does not block, and bytes. Those of sockets are somewhat faster than read and write. The number is
// -1 if there is an error.
func system(number, fd uintptr, b []byte) (n int, errno syscall.Errno) {
	for {
		done, _, errno := syscall.RawSyscall6(number, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), 0, 0, 0)
		if errno != syscall.EINTR {
			return int(done), errno
		}
	}
}
