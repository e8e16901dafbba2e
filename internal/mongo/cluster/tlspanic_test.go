package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// closePanics is an application's connection.
type closePanics struct{ net.Conn }

func (c closePanics) Close() error {
	_ = c.Conn.Close()
	panic("in Close")
}

// A handshake of TLS that takes too long closes the connection on a goroutine of its own, where a panic would end the process.
func TestAPanicOfCloseDuringTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nc, peer := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, peer) }() // no answer
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := secured(ctx, closePanics{nc}, &tls.Config{InsecureSkipVerify: true}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}
