package speed

import (
	"encoding/binary"
	"io"
	"net"
)

// floor forwards messages: it reads each with its header, gives it to a connection of a pool, and its reply to the client. It knows
// nothing of what is in them, so a hello gets the answer of the server.
type floor struct {
	address string
	free    chan net.Conn
}

func newFloor(address string) *floor { return &floor{address: address, free: make(chan net.Conn, 100)} }

func (f *floor) Serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go f.client(c)
	}
}

func (f *floor) client(c net.Conn) {
	defer c.Close()
	in, out := make([]byte, 1<<10), make([]byte, 1<<10)
	for {
		var err error
		if in, err = readMessage(c, in); err != nil {
			return
		}
		s, err := f.take()
		if err != nil {
			return
		}
		if _, err := s.Write(in); err != nil {
			return
		}
		if out, err = readMessage(s, out); err != nil {
			return
		}
		f.free <- s
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

// take returns a connection to the server.
func (f *floor) take() (net.Conn, error) {
	select {
	case s := <-f.free:
		return s, nil
	default:
		return net.Dial("tcp", f.address)
	}
}

// readMessage reads one message into b, which has grown if it had to. Both ends wait for a reply, so that nothing follows a message.
func readMessage(from io.Reader, b []byte) ([]byte, error) {
	n, err := io.ReadAtLeast(from, b[:cap(b)], 16)
	if err != nil {
		return b, err
	}
	length := int(binary.LittleEndian.Uint32(b[:4]))
	if length > cap(b) {
		b = append(make([]byte, 0, length), b[:n]...)
	}
	b = b[:length]
	if n < length {
		_, err = io.ReadFull(from, b[n:])
	}
	return b, err
}
