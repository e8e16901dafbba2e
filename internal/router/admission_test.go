package router_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/router"
)

// refusals are the reasons that a router told of.
type refusals struct {
	mu      sync.Mutex
	reasons []string
}

func (r *refusals) add(_ net.Addr, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reasons = append(r.reasons, reason)
}

func (r *refusals) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.reasons, "; ")
}

// A client too many gets no answer, as at a mongos: the end of a new connection is a network error of a handshake, for which no driver drops
// the connections that it has. One that leaves makes room.
func TestAClientTooManyIsDisconnected(t *testing.T) {
	var refused refusals
	var own atomic.Pointer[router.Router]
	inWorld(t, func(w *world) {
		own.Store(w.router)
		first, second := w.dial().conn, w.dial().conn
		synctest.Wait()
		if n := w.router.Clients(); n != 2 || refused.text() != "" {
			w.Fatalf("%d clients, refused: %s", n, refused.text())
		}
		third := w.dial().conn
		if n, err := third.Read(make([]byte, 1)); n != 0 || err == nil {
			w.Errorf("the third client read %d bytes, %v", n, err)
		}
		synctest.Wait()
		if want := "one too many: at most 2 may be connected, of 2"; refused.text() != want {
			w.Errorf("refused: %q, want %q", refused.text(), want)
		}
		_ = first.Close()
		synctest.Wait()
		w.dial()
		synctest.Wait()
		if n := w.router.Clients(); n != 2 {
			w.Errorf("%d clients after one has left and one has come", n)
		}
		_ = second.Close()
	}, func(c *router.Config) {
		c.MostClients = 2
		c.Refused = func(from net.Addr, reason string) {
			refused.add(from, fmt.Sprintf("%s, of %d", reason, own.Load().Clients())) // it may call the router
		}
	})
}

// identity is a certificate for the router and for its clients, and what trusts it.
func identity(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	authority, err := testserver.NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	own, err := authority.Issue(pkix.Name{CommonName: "router"}, []string{"router"})
	if err != nil {
		t.Fatal(err)
	}
	trusting, err := authority.Client()
	if err != nil {
		t.Fatal(err)
	}
	return own, trusting.RootCAs
}

// inTLSWorld runs f with a router that has TLS, and verifies certificates of clients if verify is true.
func inTLSWorld(t *testing.T, verify bool, refused *refusals, f func(w *world, own tls.Certificate, trusted *x509.CertPool)) {
	t.Helper()
	var own tls.Certificate
	var trusted *x509.CertPool
	inWorld(t, func(w *world) { f(w, own, trusted) }, func(c *router.Config) {
		own, trusted = identity(t)
		c.TLS, c.Refused = &tls.Config{Certificates: []tls.Certificate{own}}, refused.add
		if verify {
			c.TLS.ClientCAs, c.TLS.ClientAuth = trusted, tls.RequireAndVerifyClientCert
		}
	})
}

func TestADriverUsesTLS(t *testing.T) {
	var refused refusals
	inTLSWorld(t, true, &refused, func(w *world, own tls.Certificate, trusted *x509.CertPool) {
		c := w.collection(options.Client().SetTLSConfig(&tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{own}}))
		if _, err := c.InsertOne(w.Context(), d("_id", 1)); err != nil {
			w.Error(err)
		}
		large := strings.Repeat("x", 1<<20)
		if _, err := c.InsertOne(w.Context(), d("text", large)); err != nil {
			w.Error(err)
		}
		var found struct{ Text string }
		if err := c.FindOne(w.Context(), d("text", large)).Decode(&found); err != nil || found.Text != large {
			w.Errorf("%d bytes, %v", len(found.Text), err)
		}
	})
	if text := refused.text(); text != "" {
		t.Errorf("refused: %s", text)
	}
}

func TestTLSRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		client *tls.Config
		says   string
	}{
		{"a client without a certificate", &tls.Config{}, "client didn't provide a certificate"},
		{"TLS 1.1", &tls.Config{MinVersion: tls.VersionTLS11, MaxVersion: tls.VersionTLS11}, "unsupported versions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var refused refusals
			inTLSWorld(t, true, &refused, func(w *world, _ tls.Certificate, trusted *x509.CertPool) {
				c.client.RootCAs, c.client.ServerName = trusted, "router"
				conn := tls.Client(w.dial().conn, c.client)
				_ = conn.HandshakeContext(w.Context()) // with TLS 1.3 the client hears of it later
				if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
					w.Errorf("the client read %d bytes, %v", n, err)
				}
				synctest.Wait()
				if text := refused.text(); !strings.HasPrefix(text, "the TLS handshake failed: ") || !strings.Contains(text, c.says) {
					w.Errorf("refused: %q, want %q in it", text, c.says)
				}
			})
		})
	}
}

// A client that says nothing does not keep its place; one that leaves at once, as the probe of a load balancer, is not worth a line.
func TestAHandshakeThatDoesNotComeIsRefused(t *testing.T) {
	var refused refusals
	inTLSWorld(t, false, &refused, func(w *world, _ tls.Certificate, _ *x509.CertPool) {
		_ = w.dial().conn.Close()
		silent := w.dial().conn
		if _, err := io.ReadAll(silent); err != nil {
			w.Logf("the silent client: %v", err)
		}
		synctest.Wait()
		if text := refused.text(); text != "the TLS handshake failed: "+context.DeadlineExceeded.Error() {
			w.Errorf("refused: %q", text)
		}
		if n := w.router.Clients(); n != 0 {
			w.Errorf("%d clients", n)
		}
	})
}
