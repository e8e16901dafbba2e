package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// opening is how a connection is opened. The zero opening is that of monitors and probes.
type opening struct {
	auth  *auth.Authenticator // nil: without a login
	limit time.Duration       // of each round trip of the handshake; 0: none but the connect timeout
}

// limited returns the context of one round trip.
func (o *opening) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.limit == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, o.limit)
}

// connect makes a connection: dial, TLS, hello, login. It ends at the connect timeout or with ctx. Errors are
// *HandshakeError.
func (s *Server) connect(ctx context.Context, id int64, o opening) (*Conn, error) {
	cfg := &s.cluster.cfg
	limited, cancel := context.WithTimeout(ctx, cfg.ConnectTimeout)
	defer cancel()
	nc, err := dial(limited, cfg.Dialer, s.address)
	if err == nil && cfg.Socket != nil {
		nc = cfg.Socket(nc)
	}
	if err == nil && cfg.TLS != nil {
		nc, err = secured(limited, nc, tlsFor(limited, s.address, cfg.TLS, cfg.Leniency, cfg.Revocation))
	}
	if err != nil {
		return nil, s.handshakeError(limited, err)
	}
	c := newConn(nc, id, s.address)
	c.compression.codecs = s.cluster.codecs
	speculative, err := s.greet(limited, c, &o)
	if err == nil && c.login != nil {
		if !o.auth.AsksOthers() {
			ctx = limited
		}
		err = s.login(ctx, c, &o, speculative)
	} else {
		ctx = limited
	}
	if err != nil {
		err = c.alertBehind(ctx, err)
		c.close()
		e := s.handshakeError(ctx, err)
		e.service, e.generation = c.service, c.generation
		return nil, e
	}
	c.lastUsed = time.Now()
	return c, nil
}

// greet sends hello. It returns hello's speculativeAuthenticate, nil if there is none. The connection's login is nil afterwards if the
// connection must not log in.
func (s *Server) greet(ctx context.Context, c *Conn, o *opening) (speculative []byte, err error) {
	defer panicked.Recovered("the handshake", &err)
	cfg := &s.cluster.cfg
	hello := initialHello{Handshake: &cfg.Handshake, metadata: s.cluster.metadata.document()}
	if o.auth != nil {
		hello.login = o.auth.Begin(hostOf(s.address))
	}
	start := time.Now()
	limited, cancel := o.limited(ctx)
	defer cancel()
	description, speculative, err := c.handshake(limited, s.address, &hello)
	switch {
	case cfg.Topology.LoadBalanced && (isUnknownCommand(err) || err == nil && description.ServiceID.IsZero()):
		return nil, errNoService
	case err != nil:
		return nil, err
	}
	c.firstRTT = time.Since(start)
	c.Description = description
	s.pool.joinService(c)
	c.compression.negotiate(cfg.Handshake.Compressors, description.Compression)
	if description.Type != topology.RSArbiter || cfg.AuthArbiters { // most arbiters know no users
		c.login = hello.login
	}
	return speculative, nil
}

// login logs in after hello. speculative is hello's speculativeAuthenticate, nil if there is none.
func (s *Server) login(ctx context.Context, c *Conn, o *opening, speculative []byte) (err error) {
	defer panicked.Recovered("the login", &err)
	requestID := int32(firstHelloID)
	return c.login.Finish(ctx, c.Description.SASLSupportedMechs, speculative, s.roundTrips(c, o, &requestID))
}

// roundTrips returns the function that sends the commands of a login.
func (s *Server) roundTrips(c *Conn, o *opening, requestID *int32) auth.RoundTrip {
	return func(ctx context.Context, database string, command []byte) ([]byte, error) {
		*requestID++
		ctx, cancel := context.WithTimeout(ctx, s.cluster.cfg.ConnectTimeout) // a mechanism that asks others has no other limit
		defer cancel()
		ctx, cancelLimited := o.limited(ctx)
		defer cancelLimited()
		return c.handshakeCommand(ctx, database, command, *requestID, s.cluster.cfg.Handshake.ServerAPI)
	}
}

// hostOf returns the host of an address, or the path of a Unix domain socket.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// isUnknownCommand reports whether a server does not know the command hello, which all do that work behind a load balancer.
func isUnknownCommand(err error) bool {
	const commandNotFound = 59
	var refused *topology.HelloError
	return errors.As(err, &refused) && refused.Code == commandNotFound
}

// handshakeError classifies the error of a connection that could not be made.
func (s *Server) handshakeError(ctx context.Context, err error) *HandshakeError {
	e := &HandshakeError{Address: s.address, Err: err, Network: true, Connecting: true}
	var login *auth.Error
	if errors.As(err, &login) {
		e.Connecting = false // an overloaded server is recognised before the login
		var broken *IOError
		e.Network = errors.As(err, &broken)
	}
	var behind *proxyError
	if errors.As(err, &behind) {
		e.Connecting = false // it tells nothing of the server (SOCKS5 specification)
	}
	var unwritten *unwrittenHello
	var refused *refusedHello
	var denied *refusedLogin
	var certificate *tls.CertificateVerificationError
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &refused):
		e.Network, e.Connecting, e.Reply = false, false, refused.reply
	case errors.As(err, &denied):
		e.Network, e.Connecting, e.Reply = false, false, denied.reply
	case !e.Network, errors.As(err, &unwritten), errors.As(err, &certificate), errors.Is(err, errNoService):
		e.Network, e.Connecting = false, false
	case ctx.Err() != nil: // also if ctx ended a DNS lookup: this case must stay before the next one
		e.Err, e.Timeout = context.Cause(ctx), errors.Is(ctx.Err(), context.DeadlineExceeded)
	case errors.As(err, &dns), failsInTLS(err):
		e.Connecting = false // this does not show that the server is overloaded
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		e.Timeout = true
	}
	return e
}

// failsInTLS reports whether a TLS handshake has failed without an I/O error: the server has answered with an alert, perhaps
// because of the client's certificate, or not with TLS. Package crypto/tls has no type for most of these errors, but begins their
// texts with its name.
func failsInTLS(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error" || strings.HasPrefix(err.Error(), "tls: ")
}

// errNoService is the Load Balancer specification's error.
var errNoService = errors.New("driver attempted to initialize in load balancing mode, but the server does not support this mode")
