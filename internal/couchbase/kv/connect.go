package kv

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"syscall"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
)

// Connect returns a connection to the node at an address, "host:port". bucket is the one that it is for, or "" for a connection to the
// cluster: see [Config.LateBucket] and [Conn.SelectBucket]. The error is a *[HandshakeError], that of the dial, or one about the
// configuration. The context limits only Connect.
func Connect(ctx context.Context, c *Config, address, bucket string) (*Conn, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	raw, err := dial(ctx, c, address)
	if err != nil {
		return nil, err
	}
	nc := raw
	if c.TLS != nil {
		if nc, err = secured(ctx, raw, c.TLS, address); err != nil {
			_ = panicked.Conn(raw).Close()
			return nil, &HandshakeError{Address: address, Err: err}
		}
	}
	conn := newConn(c, address, rand.Uint64(), raw, nc)
	if err := conn.shake(ctx, bucket); err != nil {
		conn.closeQuietly()
		return nil, err
	}
	conn.begin()
	return conn, nil
}

func dial(ctx context.Context, c *Config, address string) (nc net.Conn, err error) {
	defer panicked.Recovered("the dialer", &err)
	if c.Dial == nil {
		d := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 5}}
		return d.DialContext(ctx, "tcp", address)
	}
	nc, err = c.Dial(ctx, "tcp", address)
	if nc == nil && err == nil {
		return nil, errors.New("the dialer returned neither a connection nor an error")
	}
	return nc, err
}

// secured makes the TLS handshake.
func secured(ctx context.Context, raw net.Conn, cfg *tls.Config, address string) (nc net.Conn, err error) {
	defer panicked.Recovered("the TLS handshake", &err)
	cfg = cfg.Clone()
	if cfg.ServerName == "" {
		cfg.ServerName = address
		if host, _, err := net.SplitHostPort(address); err == nil {
			cfg.ServerName = host
		}
	}
	secure := tls.Client(panicked.Conn(raw), cfg) // a goroutine of the handshake closes the connection when the context ends
	return secure, secure.HandshakeContext(ctx)
}

// isPlain reports whether a write on the connection continues after its deadline has ended it. Under TLS it does not, and nothing is
// known of other types.
func isPlain(nc net.Conn) bool {
	switch nc.(type) {
	case syscall.Conn, interface{ OpenAndSilent() bool }:
		return true
	}
	return false
}

// begin makes the connection ready for requests after the handshake.
func (c *Conn) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.in.start < c.in.end { // perhaps a map
		c.reader = &c.idle
		go c.idleRead()
		return
	}
	c.tickLocked(false)
}
