package cluster

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// connect dials the server and makes the handshake, until the connect timeout or the end of ctx. Its errors are
// *HandshakeError.
func (s *Server) connect(ctx context.Context, id int64) (*Conn, error) {
	cfg := &s.cluster.cfg
	ctx, cancel := context.WithTimeout(ctx, cfg.ConnectTimeout)
	defer cancel()
	nc, err := cfg.Dialer.DialContext(ctx, "tcp", s.address)
	if err != nil {
		return nil, s.handshakeError(ctx, err)
	}
	c := newConn(nc, id, s.address)
	c.compression.codecs = s.cluster.codecs
	start := time.Now()
	description, err := c.handshake(ctx, s.address, &cfg.Handshake)
	switch {
	case cfg.Topology.LoadBalanced && (isUnknownCommand(err) || err == nil && description.ServiceID.IsZero()):
		c.close()
		return nil, &HandshakeError{Address: s.address, Err: errNoService}
	case err != nil:
		c.close()
		return nil, s.handshakeError(ctx, err)
	}
	c.Description = description
	c.compression.negotiate(cfg.Handshake.Compressors, description.Compression)
	c.lastUsed = time.Now()
	c.firstRTT = c.lastUsed.Sub(start)
	return c, nil
}

// errNoService is the Load Balancer specification's error.
var errNoService = errors.New("driver attempted to initialize in load balancing mode, but the server does not support this mode")

// isUnknownCommand reports whether a server does not know the command hello, which all do that work behind a load balancer.
func isUnknownCommand(err error) bool {
	const commandNotFound = 59
	var refused *topology.HelloError
	return errors.As(err, &refused) && refused.Code == commandNotFound
}

func (s *Server) handshakeError(ctx context.Context, err error) *HandshakeError {
	e := &HandshakeError{Address: s.address, Err: err, Network: true, Connecting: true}
	var refused *refusedHello
	var unwritten *unwrittenHello
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &refused):
		e.Network, e.Connecting, e.Reply = false, false, refused.reply
	case errors.As(err, &unwritten):
		e.Network, e.Connecting = false, false
	case ctx.Err() != nil: // also if ctx ended a DNS lookup: this case must stay before the next one
		e.Err, e.Timeout = context.Cause(ctx), errors.Is(ctx.Err(), context.DeadlineExceeded)
	case errors.As(err, &dns):
		e.Connecting = false // a failed DNS lookup is not an overload of the server
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		e.Timeout = true
	}
	return e
}
