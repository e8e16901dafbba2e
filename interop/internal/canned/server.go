// Package canned is a server whose replies are bytes made beforehand: only responseTo is set in each. It looks like the
// primary of a replica set of one, so that clients send all they send to a real one, and costs as little as a server
// can; it understands nothing and stores nothing. Beside it are the requests that go with the replies, for a client
// that wants to know what the bytes alone cost.
package canned

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Serve listens on a free local port, writes the address to out as one line, and serves until in ends: a parent holds
// the other end of in and need not stop the server otherwise.
func Serve(in io.Reader, out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, l.Addr()); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		_ = l.Close()
	}()
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go serve(c, newReplies(l.Addr().String()))
	}
}

const requestBuffer = 64 << 10

// serve answers one connection until it ends. A request must fit its buffer: those of a measurement do.
func serve(c net.Conn, r *replies) {
	defer func() { _ = c.Close() }()
	buf, got := make([]byte, requestBuffer), 0
	for got < len(buf) {
		n, err := c.Read(buf[got:])
		if err != nil {
			return
		}
		got += n
		for {
			length, whole := firstMessage(buf[:got])
			if !whole {
				break
			}
			if _, err := c.Write(r.to(buf[:length])); err != nil {
				return
			}
			got = copy(buf, buf[length:got])
		}
	}
}

// firstMessage returns the length of the message at the start of b and whether it is all there.
func firstMessage(b []byte) (int, bool) {
	if len(b) < wire.HeaderLength {
		return 0, false
	}
	n := int(binary.LittleEndian.Uint32(b))
	return n, n >= wire.HeaderLength && n <= len(b)
}
