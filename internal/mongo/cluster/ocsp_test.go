//go:build unix

package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/mongo/revocation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// revocable is a server whose certificate can be revoked.
type revocable struct {
	responder *testserver.Responder
	server    *tls.Config
	client    *tls.Config
}

func newRevocable(t *testing.T, s testserver.OCSPSettings) *revocable {
	t.Helper()
	authority, err := testserver.NewAuthority("authority")
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ := net.SplitHostPort(addrA)
	s.URL = "http://responder.example/"
	r := new(revocable)
	if r.responder, r.server, err = authority.Revocable([]string{host}, s); err != nil {
		t.Fatal(err)
	}
	if r.client, err = authority.Client(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.responder.Close)
	return r
}

// on runs a server that a client with these settings checks.
func (r *revocable) on(t *testing.T, allowed Leniency) *Server {
	t.Helper()
	s := bareOn(t, Config{
		Topology: topology.Config{Seeds: []string{addrA}}, Dialer: under(r.server), TLS: r.client, Leniency: allowed,
		Revocation: revocation.New(r.responder.Client(), false),
	})
	found(t, s, standalone())
	return s
}

// Source: OCSP Support; Client Backpressure: a certificate that is refused is not an overload.
func TestARevokedCertificate(t *testing.T) {
	lost := reaction{unknown: true, cleared: true}
	for _, staple := range []bool{false, true} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			for _, allowed := range []Leniency{{}, {Host: true}} {
				synctest.Test(t, func(t *testing.T) {
					r := newRevocable(t, testserver.OCSPSettings{Staple: staple})
					r.server.MaxVersion = version
					r.responder.Set(testserver.OCSPRevoked, testserver.OCSPRevoked)
					shown := make(chan error, 10)
					r.server.VerifyConnection = func(tls.ConnectionState) error { shown <- nil; return nil }
					s := r.on(t, allowed)
					_, err := s.CheckOut(t.Context(), nil)
					var failed *HandshakeError
					var certificate *tls.CertificateVerificationError
					var revoked *revocation.Error
					if !errors.As(err, &failed) || failed.Network || failed.Connecting || failed.Timeout {
						t.Errorf("%+v: %v", failed, err)
					}
					if !errors.As(err, &certificate) || len(certificate.UnverifiedCertificates) != 2 || !errors.As(err, &revoked) || !revoked.Revoked {
						t.Errorf("%v has not the types", err)
					}
					if !strings.Contains(err.Error(), `the certificate of "CN=a" is revoked since `) {
						t.Errorf("%v", err)
					}
					if len(shown) > 0 {
						t.Error("the handshake came to the client's certificate")
					}
					lost.check(t, s)
					counters(t, s, 0, 0, 0)
				})
			}
		}
	}
}

func TestACertificateWhoseAnswerIsNotStapled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRevocable(t, testserver.OCSPSettings{MustStaple: true})
		_, err := r.on(t, Leniency{}).CheckOut(t.Context(), nil)
		var certificate *tls.CertificateVerificationError
		if !errors.As(err, &certificate) || !strings.Contains(err.Error(), "demands a stapled OCSP answer") {
			t.Errorf("%v", err)
		}
	})
}

// The checks that an application or an option switches off.
func TestWhichConnectionsAreNotChecked(t *testing.T) {
	for _, c := range []struct {
		name      string
		configure func(*tls.Config)
		checked   bool
	}{
		{"one with checks", func(*tls.Config) {}, true},
		{"one without any", func(c *tls.Config) { c.InsecureSkipVerify = true }, false},
		{"one with a check of the application's instead", func(c *tls.Config) {
			c.InsecureSkipVerify = true
			c.VerifyConnection = func(tls.ConnectionState) error { return nil }
		}, false},
		{"one with a check of the application's besides", func(c *tls.Config) {
			c.VerifyConnection = func(tls.ConnectionState) error { return nil }
		}, true},
		{"one with a check of the application's of the bytes", func(c *tls.Config) {
			c.VerifyPeerCertificate = func([][]byte, [][]*x509.Certificate) error { return nil }
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRevocable(t, testserver.OCSPSettings{})
				r.responder.Set(testserver.OCSPRevoked, testserver.OCSPRevoked)
				c.configure(r.client)
				s := r.on(t, Leniency{})
				conn, err := s.CheckOut(t.Context(), nil)
				if (err != nil) != c.checked || r.responder.Requests() > 0 != c.checked {
					t.Errorf("%v, %d requests", err, r.responder.Requests())
				}
				if err == nil {
					s.CheckIn(conn)
				}
			})
		})
	}
}

// The application's check comes first, and its error is not changed. It gets the chains, also those that are verified by ours.
func TestTheApplicationsCheckComesFirst(t *testing.T) {
	mine := errors.New("mine")
	for _, allowed := range []Leniency{{}, {Host: true}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRevocable(t, testserver.OCSPSettings{})
			r.client.VerifyConnection = func(state tls.ConnectionState) error {
				if len(state.VerifiedChains) != 1 || len(state.VerifiedChains[0]) != 2 {
					t.Errorf("the chains are %v", state.VerifiedChains)
				}
				return mine
			}
			_, err := r.on(t, allowed).CheckOut(t.Context(), nil)
			var certificate *tls.CertificateVerificationError
			if !errors.Is(err, mine) || errors.As(err, &certificate) || r.responder.Requests() > 0 {
				t.Errorf("%v, %d requests", err, r.responder.Requests())
			}
		})
	}
}

// A session that is resumed is checked too: its certificate may be revoked since.
func TestAResumedSessionIsChecked(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		synctest.Test(t, func(t *testing.T) {
			r := newRevocable(t, testserver.OCSPSettings{Staple: true, MustStaple: true})
			r.client.ClientSessionCache = tls.NewLRUClientSessionCache(10)
			r.server.MaxVersion = version
			var resumed []bool
			r.client.VerifyConnection = func(state tls.ConnectionState) error {
				resumed = append(resumed, state.DidResume)
				return nil
			}
			s := r.on(t, Leniency{})
			open := func() error {
				conn, err := s.connect(t.Context(), 1, opening{})
				if err == nil {
					conn.close()
				}
				return err
			}
			for range 2 {
				if err := open(); err != nil {
					t.Fatal(err)
				}
			}
			<-time.After(2 * time.Hour) // the answer that the session has kept has expired
			if err := open(); err != nil || r.responder.Requests() != 1 {
				t.Errorf("%v, %d requests", err, r.responder.Requests())
			}
			r.responder.Set(testserver.OCSPRevoked, testserver.OCSPGood)
			<-time.After(time.Hour)
			if err := open(); err == nil {
				t.Error("a revoked certificate is accepted")
			}
			if !slices.Equal(resumed, []bool{false, true, true, true}) {
				t.Errorf("resumed: %v", resumed)
			}
		})
	}
}

// A responder that is silent does not take the time of the connection.
func TestASilentResponderIsNoConnectTimeout(t *testing.T) {
	for _, c := range []struct{ timeout, want time.Duration }{{30 * time.Second, 5 * time.Second}, {4 * time.Second, 2 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRevocable(t, testserver.OCSPSettings{})
			r.responder.Set(testserver.OCSPSilence, testserver.OCSPGood)
			s := r.on(t, Leniency{})
			s.cluster.cfg.ConnectTimeout = c.timeout
			began := time.Now()
			conn, err := s.connect(t.Context(), 1, opening{})
			if took := time.Since(began); err != nil || took != c.want {
				t.Fatalf("after %v: %v", took, err)
			}
			conn.close()
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			began = time.Now()
			if _, err = s.connect(ctx, 2, opening{}); !errors.Is(err, context.Canceled) || time.Since(began) != time.Second {
				t.Errorf("a connection that is given up: after %v: %v", time.Since(began), err)
			}
		})
	}
}
