//go:build linux && (amd64 || arm64) && !race

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

func TestWriteLarge(t *testing.T) {
	here, there := pair(t)
	sent := make([]byte, 20<<20)
	for i := range sent {
		sent[i] = byte(i >> 12)
	}
	got := make(chan []byte)
	go func() {
		b := make([]byte, len(sent))
		n, _ := io.ReadFull(there, b)
		got <- b[:n]
	}()
	told := 0
	n, err := here.(*conn).WriteLarge(sent, func(n int) { told += n })
	if n != len(sent) || told != n || err != nil {
		t.Fatalf("%d bytes of %d were written, %d were told: %v", n, len(sent), told, err)
	}
	if !bytes.Equal(<-got, sent) {
		t.Error("other bytes came")
	}
}

func TestTheEndsOfWriteLarge(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(here, there net.Conn)
		want error
	}{
		"the deadline": {func(here, _ net.Conn) { _ = here.SetWriteDeadline(time.Now()) }, os.ErrDeadlineExceeded},
		"a close":      {func(here, _ net.Conn) { _ = here.Close() }, net.ErrClosed},
		"a reset": {func(_, there net.Conn) {
			_ = there.(*net.TCPConn).SetLinger(0)
			_ = there.Close()
		}, nil}, // of the system, by its name there
	} {
		here, there := pair(t)
		told := 0
		begun := make(chan struct{})
		go func() {
			<-begun
			c.end(here, there)
		}()
		n, err := here.(*conn).WriteLarge(make([]byte, 100<<20), func(n int) {
			if told == 0 {
				close(begun)
			}
			told += n
		})
		var op *net.OpError
		if n != told || n == 100<<20 || !errors.As(err, &op) || op.Op != "write" || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %d bytes were written, %d were told: %v", name, n, told, err)
		}
	}
}
