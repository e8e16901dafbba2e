package kv

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// certificate returns a certificate for the host "node" that signs itself, valid around the time of the bubbles and now.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "node"}, DNSNames: []string{"node"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Now().Add(100 * 365 * 24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// overTLS returns a configuration whose connections reach the script by TLS.
func (s *server) overTLS(t *testing.T) *Config {
	t.Helper()
	own, pool := certificate(t)
	return &Config{
		TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13},
		Dial: func(context.Context, string, string) (net.Conn, error) {
			client, node := memnet.Pipe()
			go s.serve(t, tls.Server(node, &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS13}))
			return client, nil
		},
	}
}

func TestTheNameOfTheCertificateIsChecked(t *testing.T) {
	for _, c := range []struct {
		name, address string
		change        func(*tls.Config)
		works         bool
	}{
		{name: "the host of the address", address: "node:11207", works: true},
		{name: "another host", address: "other:11207"},
		{name: "another host, and the name is given", address: "other:11207", change: func(c *tls.Config) { c.ServerName = "node" }, works: true},
		{name: "the host of the address, and another name is given", address: "node:11207", change: func(c *tls.Config) { c.ServerName = "other" }},
		{name: "another host, and the check is switched off", address: "other:11207", change: func(c *tls.Config) { c.InsecureSkipVerify = true }, works: true},
		{name: "an authority that is not known", address: "node:11207", change: func(c *tls.Config) { c.RootCAs = x509.NewCertPool() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{quiet: true}
				cfg := s.overTLS(t)
				if c.change != nil {
					c.change(cfg.TLS)
				}
				conn, err := Connect(t.Context(), cfg, c.address, "b")
				if (err == nil) != c.works {
					t.Errorf("error %v", err)
				}
				if err == nil {
					conn.Close(nil)
					return
				}
				var failed *HandshakeError
				var invalid *tls.CertificateVerificationError
				if !errors.As(err, &failed) || !errors.As(err, &invalid) {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

// Over TLS the default is PLAIN, in one round trip after TLS's own.
func TestPlainIsTheDefaultOverTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{mechanisms: all, quiet: true}
		cfg := s.overTLS(t)
		cfg.Login = login(t, Credential{})
		c := s.connect(t, cfg)
		begin(c, get("1")).wantReply(t, "1")
		if s.names() != "HELLO GET_ERROR_MAP SASL_LIST_MECHS SASL_AUTH SELECT_BUCKET GET_CLUSTER_CONFIG" || string(s.requests[3].Key) != Plain {
			t.Errorf("the steps are %s, the mechanism is %s", s.names(), s.requests[3].Key)
		}
	})
}

// Under TLS a write that a deadline ended would break the connection, so callers do not write themselves.
func TestACallerLeavesUnderTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		s := &server{quiet: true, answer: func(p *peer, r memd.Packet) {
			<-gate
			p.send(reply(r))
		}}
		c := s.connect(t, s.overTLS(t))
		begin(c, get("first"))
		ctx, cancel := context.WithCancel(t.Context())
		late := begin(c, Request{Opcode: memd.OpSet, Value: make([]byte, 20<<20), Deadline: soon(10 * time.Millisecond)})
		behind := get("behind")
		behind.Cancelled = ctx.Done()
		unsent, stays := begin(c, behind), begin(c, get("stays"))
		late.wantError(t, retry.StageInFlight, ErrDeadline)
		late.wantTook(t, 10*time.Millisecond, 11*time.Millisecond)
		cancel()
		unsent.wantError(t, retry.StageBeforeSending, ErrCancelled)
		close(gate)
		stays.wantReply(t, "stays")
		leader := get("leader")
		leader.Deadline = soon(time.Second)
		begin(c, leader).wantReply(t, "leader")
	})
}

func TestManyCallersUnderTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{quiet: true}
		c := s.connect(t, s.overTLS(t))
		var callers sync.WaitGroup
		for range 20 {
			callers.Go(func() {
				for i := range 20 {
					value := string(make([]byte, i*100))
					var a Reply
					if err := c.RoundTrip(&Request{Opcode: memd.OpGet, Value: []byte(value)}, &a); err != nil || string(a.Value) != value {
						t.Errorf("a reply of %d bytes, %v", len(a.Value), err)
					}
				}
			})
		}
		callers.Wait()
	})
}
