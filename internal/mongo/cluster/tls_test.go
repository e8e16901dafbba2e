//go:build unix

package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/retry"
)

// tlsServer is a Dialer whose connections end at a function.
type tlsServer func(server net.Conn)

func (s tlsServer) DialContext(context.Context, string, string) (net.Conn, error) {
	client, server := memnet.Pipe()
	go s(server)
	return client, nil
}

// under answers like answerAll under TLS.
func under(cfg *tls.Config) tlsServer {
	return func(server net.Conn) { answerAll(tls.Server(server, cfg)) }
}

// Sources: Client Backpressure; Connection Monitoring and Pooling, "Connection Pool": the pool adds the labels of an overload to
// network errors and timeouts in the TLS handshake, not to other TLS errors.
func TestAFailedTLSHandshake(t *testing.T) {
	overloaded, lost := reaction{checkNow: true}, reaction{unknown: true, cleared: true}
	demanding := func(version uint16) func(*testing.T) tlsServer {
		return func(t *testing.T) tlsServer {
			cfg := tlsConfig(t)
			cfg.ClientAuth, cfg.MaxVersion = tls.RequireAnyClientCert, version
			return under(cfg)
		}
	}
	for _, c := range []struct {
		name                         string
		server                       func(*testing.T) tlsServer
		client                       *tls.Config
		after                        time.Duration
		network, connecting, timeout bool
		want                         reaction
	}{
		{
			name:   "a server that is silent may be overloaded",
			server: func(*testing.T) tlsServer { return func(net.Conn) {} }, client: &tls.Config{},
			after: 30 * time.Second, network: true, connecting: true, timeout: true, want: overloaded,
		},
		{
			name:   "a connection that is closed may be an overload",
			server: func(*testing.T) tlsServer { return func(server net.Conn) { server.Close() } }, client: &tls.Config{},
			network: true, connecting: true, want: overloaded,
		},
		{
			name:   "a certificate of an unknown authority is not an overload",
			server: func(t *testing.T) tlsServer { return under(tlsConfig(t)) }, client: &tls.Config{}, want: lost,
		},
		{
			name: "a server that refuses the client's certificate is not overloaded", server: demanding(tls.VersionTLS12),
			client: &tls.Config{InsecureSkipVerify: true}, network: true, want: lost,
		},
		{
			name: "a server that refuses it after the handshake is not overloaded", server: demanding(tls.VersionTLS13),
			client: &tls.Config{InsecureSkipVerify: true}, network: true, want: lost,
		},
		{
			name: "a server that does not speak TLS is not overloaded",
			server: func(*testing.T) tlsServer {
				return func(server net.Conn) { _, _ = server.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }
			},
			client: &tls.Config{}, network: true, want: lost,
		},
		{
			name: "a server with another version of TLS is not overloaded",
			server: func(t *testing.T) tlsServer {
				cfg := tlsConfig(t)
				cfg.MaxVersion = tls.VersionTLS12
				return under(cfg)
			},
			client: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}, network: true, want: lost,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := bareOn(t, Config{Topology: topology.Config{Seeds: []string{addrA}}, Dialer: c.server(t), TLS: c.client})
				found(t, s, standalone())
				began := time.Now()
				_, err := s.CheckOut(t.Context(), nil)
				var failed *HandshakeError
				if !errors.As(err, &failed) || time.Since(began) != c.after {
					t.Fatalf("after %v: %v", time.Since(began), err)
				}
				if failed.Network != c.network || failed.Connecting != c.connecting || failed.Timeout != c.timeout {
					t.Errorf("network %v, connecting %v, timeout %v: %v", failed.Network, failed.Connecting, failed.Timeout, err)
				}
				c.want.check(t, s)
				counters(t, s, 0, 0, 0)
			})
		})
	}
}

// slowWriter gives the server time before each write.
type slowWriter struct{ net.Conn }

func (w slowWriter) Write(b []byte) (int, error) {
	<-time.After(time.Millisecond)
	return w.Conn.Write(b)
}

// slowly is a Dialer whose connections write slowly.
type slowly struct{ Dialer }

func (s slowly) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := s.Dialer.DialContext(ctx, network, address)
	return slowWriter{nc}, err
}

// With TLS 1.3 the server may have closed the connection when hello is written: its alert is the error, not the failed write.
func TestTheAlertBehindAFailedWrite(t *testing.T) {
	cfg := tlsConfig(t)
	cfg.ClientAuth = tls.RequireAnyClientCert
	synctest.Test(t, func(t *testing.T) {
		s := bareOn(t, Config{
			Topology: topology.Config{Seeds: []string{addrA}}, Dialer: slowly{under(cfg)}, TLS: &tls.Config{InsecureSkipVerify: true},
		})
		found(t, s, standalone())
		_, err := s.CheckOut(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), "tls: certificate required") {
			t.Errorf("%v; want the alert", err)
		}
		reaction{unknown: true, cleared: true}.check(t, s)
	})
}

func TestTheServerNameOfTLS(t *testing.T) {
	for _, c := range []struct{ address, given, want string }{
		{"a.example:27017", "", "a.example"},
		{"[::1]:27017", "", "::1"},
		{"/tmp/mongodb-27017.sock", "", "/tmp/mongodb-27017.sock"},
		{"a.example:27017", "b.example", "b.example"},
	} {
		cfg := &tls.Config{ServerName: c.given, RootCAs: x509.NewCertPool()}
		got := tlsFor(t.Context(), c.address, cfg, Leniency{}, nil)
		if got.ServerName != c.want || got.InsecureSkipVerify || got.RootCAs != cfg.RootCAs || cfg.ServerName != c.given {
			t.Errorf("%s: the server name is %q, want %q", c.address, got.ServerName, c.want)
		}
	}
}

// The end of the cluster interrupts a hello. It must not wait for an alert then.
func TestNoAlertIsAwaitedWhenTheContextHasEnded(t *testing.T) {
	for _, after := range []time.Duration{0, alertPatience / 2, alertPatience} {
		synctest.Test(t, func(t *testing.T) {
			client, _ := memnet.Pipe()
			c := newConn(tls.Client(client, &tls.Config{ServerName: "a"}), 1, addrA)
			failed := c.ioError(retry.StageInFlight, context.Canceled)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(after, cancel)
			if after == 0 {
				cancel()
			}
			began := time.Now()
			if err := c.alertBehind(ctx, failed); err != failed || time.Since(began) != after { //nolint:errorlint // the same error
				t.Errorf("context ends after %v: %v after %v", after, err, time.Since(began))
			}
			cancel()
		})
	}
}
