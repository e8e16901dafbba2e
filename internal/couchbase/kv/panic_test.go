package kv

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// faulty is an application's connection that panics in some of its methods.
type faulty struct {
	net.Conn
	read, write, end bool
}

func (f *faulty) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	if f.read {
		panic("in Read")
	}
	return n, err
}

func (f *faulty) Write(b []byte) (int, error) {
	if f.write {
		panic("in Write")
	}
	return f.Conn.Write(b)
}

func (f *faulty) Close() error {
	_ = f.Conn.Close()
	if f.end {
		panic("in Close")
	}
	return nil
}

func TestAPanicOfTheApplicationsCodeIsAnError(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*faulty)
		want   string
	}{
		{"Read", func(f *faulty) { f.read = true }, "in Read"},
		{"Write", func(f *faulty) { f.write = true }, "in Write"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := new(server)
				cfg := s.start(t)
				var f *faulty
				dial := cfg.Dial
				cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
					nc, err := dial(ctx, network, address)
					f = &faulty{Conn: nc, end: true}
					return f, err
				}
				conn := s.connect(t, cfg)
				c.change(f)
				k := begin(conn, get("1"))
				k.wantError(t, retry.StageInFlight, ErrClosed)
				if !strings.Contains(k.err.Error(), c.want) {
					t.Errorf("error %v", k.err)
				}
			})
		})
	}
}

func TestAPanicWhileConnectingIsAnError(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
	}{
		{"the dialer", func(c *Config) { c.Dial = func(context.Context, string, string) (net.Conn, error) { panic("here") } }},
		{"TLS", func(c *Config) {
			c.TLS = &tls.Config{GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { panic("here") }, Rand: panics{}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := (&server{quiet: true}).start(t)
				c.change(cfg)
				if _, err := Connect(t.Context(), cfg, nodeAddress, "b"); err == nil || !strings.Contains(err.Error(), "here") {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

// A handshake of TLS that takes too long closes the connection on a goroutine of its own, where a panic would end the process.
func TestAPanicOfCloseDuringTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := &Config{TLS: &tls.Config{}, Dial: func(context.Context, string, string) (net.Conn, error) {
			nc, peer := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, peer) }() // no answer
			return &faulty{Conn: nc, end: true}, nil
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := Connect(ctx, cfg, nodeAddress, "b"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

type panics struct{}

func (panics) Read([]byte) (int, error) { panic("here") }

func TestADialerThatReturnsNothing(t *testing.T) {
	cfg := &Config{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, nil }}
	if _, err := Connect(t.Context(), cfg, nodeAddress, "b"); err == nil {
		t.Error("there is no error")
	}
}

func TestAPanicOfACallbackEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: func(p *peer, r memd.Packet) { p.send(push(memd.MapVersion{}, ""), reply(r)) }}
		cfg := s.start(t)
		ended := 0
		cfg.OnMap = func(*Conn, memd.MapVersion, []byte) { panic("in OnMap") }
		cfg.OnClose = func(_ *Conn, err error) {
			if ended++; !strings.Contains(err.Error(), "in OnMap") {
				t.Errorf("the connection ended with %v", err)
			}
		}
		c := s.connect(t, cfg)
		k := begin(c, get("1"))
		if <-k.done; !errors.Is(k.err, ErrClosed) || ended != 1 {
			t.Errorf("error %v; OnClose was called %d times", k.err, ended)
		}
	})
}
