package router

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
)

// handshakeLimit is how long the TLS handshake of a client may take.
const handshakeLimit = 10 * time.Second

// secured returns a client's connection with TLS, if there is to be any. The bytes of a Unix socket leave no machine.
func (r *Router) secured(conn net.Conn) net.Conn {
	if _, local := conn.(*net.UnixConn); local || r.cfg.TLS == nil {
		return conn
	}
	return tls.Server(conn, r.cfg.TLS)
}

// shakeHands does the TLS handshake, if the connection has one. It reports whether the client may go on.
func (c *client) shakeHands() bool {
	conn, ok := c.conn.(*tls.Conn)
	if !ok {
		return true
	}
	ctx, cancel := context.WithTimeout(c.ctx, handshakeLimit)
	defer cancel()
	err := conn.HandshakeContext(ctx)
	gone := errors.Is(err, io.EOF) || c.ctx.Err() != nil // as after the probe of a load balancer
	if err != nil && !gone {
		c.router.cfg.Refused(conn.RemoteAddr(), "the TLS handshake failed: "+err.Error())
	}
	return err == nil
}
