package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
	"github.com/holdfast-db/holdfast/internal/mongo/revocation"
)

// Leniency says which checks of a server's certificate are left out. With InsecureSkipVerify all are.
type Leniency struct {
	Chain bool // tlsAllowInvalidCertificates: who signed it, and its dates
	Host  bool // tlsAllowInvalidHostnames
}

// tlsFor returns the TLS configuration for a server. A server name that is not given is the host of the address. Its checks of the certificate
// run during the handshake, so a server that is refused does not see the client's certificate. They end with ctx.
func tlsFor(ctx context.Context, address string, cfg *tls.Config, allowed Leniency, revoked *revocation.Checker) *tls.Config {
	cfg = cfg.Clone()
	if cfg.ServerName == "" {
		cfg.ServerName = hostOf(address)
	}
	if cfg.InsecureSkipVerify {
		return cfg
	}
	own, more := func(*tls.ConnectionState) error { return nil }, cfg.VerifyConnection
	if allowed != (Leniency{}) {
		own = certificateCheck(cfg, allowed)
		cfg.InsecureSkipVerify = true
	}
	clock := cfg.Time
	if clock == nil {
		clock = time.Now
	}
	cfg.VerifyConnection = func(state tls.ConnectionState) error {
		err := own(&state)
		if err == nil && more != nil {
			if err := more(state); err != nil {
				return err
			}
		}
		if err == nil && revoked != nil {
			err = revoked.Check(ctx, state, clock)
		}
		if err != nil {
			return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
		}
		return nil
	}
	return cfg
}

// certificateCheck returns the checks that are not left out. They note the chains that they verify.
func certificateCheck(cfg *tls.Config, allowed Leniency) func(*tls.ConnectionState) error {
	host, roots, now := cfg.ServerName, cfg.RootCAs, cfg.Time
	return func(state *tls.ConnectionState) error {
		if !allowed.Host {
			if err := state.PeerCertificates[0].VerifyHostname(host); err != nil {
				return err
			}
		}
		if allowed.Chain {
			return nil
		}
		opts := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		if now != nil {
			opts.CurrentTime = now()
		}
		for _, c := range state.PeerCertificates[1:] {
			opts.Intermediates.AddCert(c)
		}
		var err error
		state.VerifiedChains, err = state.PeerCertificates[0].Verify(opts)
		return err
	}
}

// secured makes the TLS handshake on a new connection. It closes the connection if that fails.
func secured(ctx context.Context, nc net.Conn, cfg *tls.Config) (net.Conn, error) {
	secure := tls.Client(panicked.Conn(nc), cfg) // a goroutine of the handshake closes the connection when the context ends
	if err := handshakeTLS(ctx, secure); err != nil {
		closeQuietly(nc)
		return nil, err
	}
	return secure, nil
}

// handshakeTLS makes a panic of one of the application's functions in the configuration an error.
func handshakeTLS(ctx context.Context, nc *tls.Conn) (err error) {
	defer panicked.Recovered("the TLS handshake", &err)
	return nc.HandshakeContext(ctx)
}

// alertPatience is how long the alert is waited for that a server sent before it closed the connection.
const alertPatience = 100 * time.Millisecond

// alertBehind returns the error with the TLS alert that is the reason why a write failed, or err if there is none. With TLS 1.3 a server
// refuses the client's certificate after the client has ended its handshake, so the connection may be closed while hello is written.
// It does not wait longer than ctx.
func (c *Conn) alertBehind(ctx context.Context, err error) (reason error) {
	defer panicked.Recovered("the reading of a TLS alert", &reason)
	secure, ok := c.nc.(*tls.Conn)
	var failed *IOError
	if !ok || !errors.As(err, &failed) || failed.Timeout() || failsInTLS(err) {
		return err
	}
	if secure.SetReadDeadline(time.Now().Add(alertPatience)) != nil {
		return err
	}
	defer context.AfterFunc(ctx, c.wake)()
	if _, alert := secure.Read(make([]byte, 1)); alert != nil && failsInTLS(alert) {
		return &IOError{Address: failed.Address, Connection: failed.Connection, Stage: failed.Stage, Err: alert}
	}
	return err
}
