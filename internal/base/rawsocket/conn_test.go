package rawsocket

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// pair returns the two ends of a TCP connection. The first one is Of it.
func pair(t *testing.T) (here, there net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialed, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialed.Close() })
	if there, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { there.Close() })
	return Of(dialed), there
}

// The bytes are more than the buffers of the kernel have room for, so both sides wait for the other.
func TestAllBytesArrive(t *testing.T) {
	const size = 4 << 20
	sent := make([]byte, size)
	for i := range sent {
		sent[i] = byte(i * 31 >> 3)
	}
	for name, piece := range map[string]int{"small pieces": 10_000, "large pieces": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			here, there := pair(t)
			peer := Of(there)
			done := make(chan error, 1)
			go func() {
				for rest := sent; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
					if n, err := here.Write(rest[:min(piece, len(rest))]); err != nil || n != min(piece, len(rest)) {
						done <- errors.Join(err, errors.New("not all was written"))
						return
					}
				}
				done <- here.(interface{ CloseWrite() error }).CloseWrite()
			}()
			var got bytes.Buffer
			for buf := make([]byte, piece); ; {
				n, err := peer.Read(buf)
				got.Write(buf[:n])
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), sent) {
				t.Errorf("%d bytes came, of %d, or others", got.Len(), size)
			}
		})
	}
}

// The errors are those of package net, in type and text.
func TestErrors(t *testing.T) {
	buf := make([]byte, 10)
	for name, do := range map[string]func(c, peer net.Conn) error{
		"a read after its deadline": func(c, _ net.Conn) error {
			c.SetReadDeadline(time.Unix(1, 0))
			_, err := c.Read(buf)
			return err
		},
		"a write after its deadline": func(c, _ net.Conn) error {
			c.SetWriteDeadline(time.Unix(1, 0))
			_, err := c.Write(buf)
			return err
		},
		"a read after the close": func(c, _ net.Conn) error {
			c.Close()
			_, err := c.Read(buf)
			return err
		},
		"a read after a reset": func(c, peer net.Conn) error {
			peer.(*net.TCPConn).SetLinger(0)
			peer.Close()
			_, err := c.Read(buf)
			return err
		},
		"a read after the end": func(c, peer net.Conn) error {
			peer.Close()
			_, err := c.Read(buf)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			here, there := pair(t)
			got := do(here, there)
			other, peer := pair(t)
			if raw, ok := other.(interface{ plain() net.Conn }); ok {
				other = raw.plain()
			}
			want := do(other, peer)
			if withoutPorts(got) != withoutPorts(want) {
				t.Errorf("the error is\n%v, package net has\n%v", got, want)
			}
			for _, cause := range []error{os.ErrDeadlineExceeded, net.ErrClosed, io.EOF} {
				if errors.Is(got, cause) != errors.Is(want, cause) {
					t.Errorf("%v is %v: %v", got, cause, errors.Is(got, cause))
				}
			}
		})
	}
}

// withoutPorts returns an error's text, with its ports left out.
func withoutPorts(err error) string {
	var e *net.OpError
	if errors.As(err, &e) {
		return e.Op + " " + e.Net + ": " + e.Err.Error()
	}
	return err.Error()
}

// What is no TCP connection stays what it is.
func TestOf(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if Of(a) != a {
		t.Error("a pipe became something else")
	}
}
