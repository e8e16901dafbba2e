//go:build linux && (amd64 || arm64) && !race

package rawsocket

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

func (c *conn) plain() net.Conn { return c.TCPConn }

func TestWriteAndAwait(t *testing.T) {
	here, there := pair(t)
	go func() {
		buf := make([]byte, 4)
		for {
			if _, err := io.ReadFull(there, buf); err != nil {
				return
			}
			there.Write(buf)
		}
	}()
	buf := make([]byte, 10)
	for _, text := range []string{"one ", "two "} {
		n, err := here.(*conn).WriteAndAwait([]byte(text))
		if n != 4 || err != nil {
			t.Fatalf("%d bytes were written: %v", n, err)
		}
		if n, err = here.Read(buf); string(buf[:n]) != text || err != nil {
			t.Fatalf("the reply is %q: %v", buf[:n], err)
		}
	}
}

// The end of the stream came before: the deadline ends the wait, and the bytes were written.
func TestWriteAndAwaitAtAHalfClosedConnection(t *testing.T) {
	here, there := pair(t)
	there.(*net.TCPConn).CloseWrite()
	buf := make([]byte, 10)
	if _, err := here.Read(buf); !errors.Is(err, io.EOF) {
		t.Fatalf("the error is %v, want the end", err)
	}
	here.SetDeadline(time.Now().Add(20 * time.Millisecond))
	if n, err := here.(*conn).WriteAndAwait([]byte("bytes")); n != 5 || err != nil {
		t.Fatalf("%d bytes were written: %v", n, err)
	}
	if n, err := io.ReadFull(there, buf[:5]); err != nil {
		t.Fatalf("%d bytes came: %v", n, err)
	}
	here.SetDeadline(time.Time{})
	if _, err := here.Read(buf); !errors.Is(err, io.EOF) {
		t.Errorf("the error is %v, want the end", err)
	}
}

// More bytes than there is room for: what is left goes the way of package net.
func TestWriteAndAwaitWithoutRoom(t *testing.T) {
	here, there := pair(t)
	const size = 60_000
	full := 0 // the bytes for which there is room
	here.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
	for {
		n, err := here.Write(make([]byte, size))
		if full += n; err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal(err)
			}
			break
		}
	}
	here.SetWriteDeadline(time.Time{})
	go func() {
		io.CopyN(io.Discard, there, int64(full+size))
		there.Write([]byte("read"))
	}()
	if n, err := here.(*conn).WriteAndAwait(make([]byte, size)); n != size || err != nil {
		t.Fatalf("%d bytes were written: %v", n, err)
	}
	buf := make([]byte, 4)
	if _, err := io.ReadFull(here, buf); err != nil {
		t.Fatal(err)
	}
}

func TestAWriteAfterTheDeadlineWritesNothing(t *testing.T) {
	here, there := pair(t)
	here.SetDeadline(time.Unix(1, 0))
	if n, err := here.(*conn).WriteAndAwait([]byte("bytes")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes were written: %v", n, err)
	}
	here.Close()
	if b, err := io.ReadAll(there); len(b) > 0 || err != nil {
		t.Errorf("%q came: %v", b, err)
	}
}

func TestReadsAndWritesAllocateNothing(t *testing.T) {
	here, there := pair(t)
	buf := make([]byte, 10)
	if n := testing.AllocsPerRun(100, func() {
		there.Write(buf)
		here.Read(buf)
		here.Write(buf)
		there.Read(buf)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
