package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
)

// Leniency says which checks of a server's certificate are left out. With InsecureSkipVerify all are.
type Leniency struct {
	Chain bool // tlsAllowInvalidCertificates: who signed it, and its dates
	Host  bool // tlsAllowInvalidHostnames
}

// tlsFor returns the TLS configuration for a server. A server name that is not given is the host of the address.
func tlsFor(address string, cfg *tls.Config, allowed Leniency) *tls.Config {
	cfg = cfg.Clone()
	if cfg.ServerName == "" {
		cfg.ServerName = address
		if host, _, err := net.SplitHostPort(address); err == nil {
			cfg.ServerName = host
		}
	}
	if allowed != (Leniency{}) && !cfg.InsecureSkipVerify {
		own := certificateCheck(cfg, allowed)
		cfg.InsecureSkipVerify, cfg.VerifyConnection = true, own
	}
	return cfg
}

// certificateCheck returns the checks that are not left out.
func certificateCheck(cfg *tls.Config, allowed Leniency) func(tls.ConnectionState) error {
	host, roots, now, more := cfg.ServerName, cfg.RootCAs, cfg.Time, cfg.VerifyConnection
	return func(state tls.ConnectionState) error {
		var err error
		if !allowed.Host {
			err = state.PeerCertificates[0].VerifyHostname(host)
		}
		if err == nil && !allowed.Chain {
			opts := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
			if now != nil {
				opts.CurrentTime = now()
			}
			for _, c := range state.PeerCertificates[1:] {
				opts.Intermediates.AddCert(c)
			}
			_, err = state.PeerCertificates[0].Verify(opts)
		}
		switch {
		case err != nil:
			return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
		case more != nil:
			return more(state)
		}
		return nil
	}
}

// secured makes the TLS handshake on a new connection. It closes the connection if that fails.
func secured(ctx context.Context, nc net.Conn, cfg *tls.Config) (net.Conn, error) {
	secure := tls.Client(nc, cfg)
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
