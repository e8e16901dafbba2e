package panicked

import (
	"errors"
	"net"
	"testing"
	"time"
)

// noConn panics in each of its methods: it has no connection inside.
type noConn struct{ net.Conn }

func TestAConnectionThatPanics(t *testing.T) {
	c := Conn(noConn{})
	for name, call := range map[string]func() error{
		"Read":             func() error { _, err := c.Read(nil); return err },
		"Write":            func() error { _, err := c.Write(nil); return err },
		"Close":            c.Close,
		"SetDeadline":      func() error { return c.SetDeadline(time.Time{}) },
		"SetReadDeadline":  func() error { return c.SetReadDeadline(time.Time{}) },
		"SetWriteDeadline": func() error { return c.SetWriteDeadline(time.Time{}) },
	} {
		var failed *failure
		if err := call(); !errors.As(err, &failed) || failed.who != "the connection's "+name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAConnectionThatDoesNotPanic(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	c, got := Conn(a), make(chan []byte, 1)
	go func() {
		text := make([]byte, 2)
		n, _ := b.Read(text)
		got <- text[:n]
		_, _ = b.Write([]byte("me"))
	}()
	if layer, ok := c.(interface{ NetConn() net.Conn }); !ok || layer.NetConn() != a {
		t.Error("NetConn does not return the connection")
	}
	n, err := c.Write([]byte("it"))
	if text := <-got; n != 2 || err != nil || string(text) != "it" {
		t.Errorf("%d, %v, %q", n, err, text)
	}
	text := make([]byte, 2)
	if n, err := c.Read(text); n != 2 || err != nil || string(text) != "me" {
		t.Errorf("%d, %v, %q", n, err, text)
	}
	for _, set := range []func(time.Time) error{c.SetDeadline, c.SetReadDeadline, c.SetWriteDeadline} {
		if err := set(time.Now().Add(time.Hour)); err != nil {
			t.Error(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := b.Read(text); err == nil {
		t.Error("Close has not closed the connection")
	}
}
