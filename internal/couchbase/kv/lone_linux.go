package kv

import (
	"net"
	"syscall"
)

// loneExchange is a write and the read after it with one wait between them, for a caller that is alone on the connection. An ordinary
// read begins with a system call that finds nothing yet, which costs as much as the rest of the client. It needs a plain socket.
//
// What arrived before the write does not end the wait: only what arrives after it does. That matters only if the server closed its
// direction within [lookAfter] and goes on reading. So the timer ends a long wait, and an ordinary read follows.
type loneExchange struct {
	raw     syscall.RawConn
	step    func(fd uintptr) (done bool) // made once, so that an exchange allocates nothing
	look    func(fd uintptr) (done bool)
	written func() // called when all is written, before the wait

	out, in []byte
	sent    bool // the write was made
	n       int  // bytes that were written, while not all are; then those that were read
	all     bool // all was written
	errno   syscall.Errno
}

// mostLone is the size in bytes of the largest packet that is written so: more may not fit the socket's buffer.
const mostLone = 16 << 10

// newLoneExchange returns nil if the connection is no plain socket.
func newLoneExchange(nc net.Conn, written func()) *loneExchange {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	x := &loneExchange{raw: raw, written: written}
	x.step, x.look = x.next, x.readNow
	return x
}

// do writes out and reads into in. If all is true, all was written and n bytes were read, with err as the error of the read; else n bytes
// were written and nothing was read, and an ordinary write finds out why.
func (x *loneExchange) do(out, in []byte) (n int, all bool, err error) {
	x.out, x.in, x.sent, x.all, x.n, x.errno = out, in, false, false, 0, 0
	err = x.raw.Read(x.step)
	x.out, x.in = nil, nil
	if err == nil && x.errno != 0 && x.all {
		err = x.errno
	}
	return x.n, x.all, err
}

// arrived reads into in what has arrived. none is true if there is nothing yet.
func (x *loneExchange) arrived(in []byte) (n int, none bool, err error) {
	x.in, x.n, x.errno = in, 0, 0
	err = x.raw.Read(x.look)
	x.in = nil
	switch {
	case err != nil:
	case x.errno == syscall.EAGAIN || x.errno == syscall.EINTR:
		return 0, true, nil
	case x.errno != 0:
		err = x.errno
	}
	return x.n, false, err
}

func (x *loneExchange) readNow(fd uintptr) bool {
	x.n, x.errno = readOnce(fd, x.in)
	return true
}

// next makes the next system call. It reports false to wait until something has arrived.
func (x *loneExchange) next(fd uintptr) bool {
	if !x.sent {
		x.sent = true
		x.n, x.errno = writeOnce(fd, x.out)
		if x.n < len(x.out) {
			return true
		}
		x.all, x.n = true, 0
		x.written()
		return false
	}
	x.n, x.errno = readOnce(fd, x.in)
	return x.errno != syscall.EAGAIN && x.errno != syscall.EINTR
}
