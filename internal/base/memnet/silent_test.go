package memnet

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhetherAConnectionIsOpenAndSilent(t *testing.T) {
	const latency = time.Millisecond
	for _, c := range []struct {
		name string
		do   func(client, server *Conn)
		want bool
	}{
		{"a new connection is", func(_, _ *Conn) {}, true},
		{"with bytes on their way it is", func(_, server *Conn) { write(server) }, true},
		{"with bytes that have arrived it is not", func(_, server *Conn) { write(server); <-time.After(latency) }, false},
		{"after they were read it is", func(client, server *Conn) { write(server); read(client) }, true},
		{"closed by the other end it is not", func(_, server *Conn) { server.Close() }, false},
		{"closed by the other end with bytes on their way it is", func(_, server *Conn) { write(server); server.Close() }, true},
		{"aborted it is not", func(_, server *Conn) { server.Abort(syscall.ECONNRESET) }, false},
		{"closed by this end it is not", func(client, _ *Conn) { client.Close() }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := connected(t, New(Config{MinLatency: latency, MaxLatency: latency}))
				defer client.Close()
				defer server.Close()
				c.do(client, server)
				synctest.Wait()
				if got := client.OpenAndSilent(); got != c.want {
					t.Errorf("it is reported as %v", got)
				}
				_ = client.SetReadDeadline(time.Now().Add(time.Hour))
				ended := client.Ended()
				n, err := client.Read(make([]byte, 1))
				if waited := errors.Is(err, os.ErrDeadlineExceeded); ended != (n == 0 && !waited) && c.name != "with bytes on their way it is" {
					t.Errorf("Ended returns %v; then a read returns %d, %v", ended, n, err)
				}
			})
		})
	}
}
