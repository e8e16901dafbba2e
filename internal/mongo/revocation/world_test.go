package revocation

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is an authority with a server and a responder.
type world struct {
	t         *testing.T
	authority *testserver.Authority
	responder *testserver.Responder
	server    *tls.Config
	checker   *Checker
}

func newWorld(t *testing.T, s testserver.OCSPSettings) *world {
	t.Helper()
	a, err := testserver.NewAuthority("authority")
	if err != nil {
		t.Fatal(err)
	}
	if s.URL == "" {
		s.URL = "http://responder.example/"
	}
	r, server, err := a.Revocable([]string{"a.example"}, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return &world{t, a, r, server, New(r.Client(), false)}
}

// shown returns the state of a new connection.
func (w *world) shown() tls.ConnectionState {
	w.t.Helper()
	var c *tls.Certificate
	if w.server.GetCertificate == nil {
		c = &w.server.Certificates[0]
	} else {
		var err error
		if c, err = w.server.GetCertificate(nil); err != nil {
			w.t.Fatal(err)
		}
	}
	root, err := x509.ParseCertificate(c.Certificate[1])
	if err != nil {
		w.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(root)
	chains, err := c.Leaf.Verify(x509.VerifyOptions{Roots: roots})
	if err != nil {
		w.t.Fatal(err)
	}
	return tls.ConnectionState{PeerCertificates: []*x509.Certificate{c.Leaf, root}, VerifiedChains: chains, OCSPResponse: c.OCSPStaple}
}

// check checks a new connection: want is in the error, or is empty.
func (w *world) check(want string, requests int) {
	w.t.Helper()
	w.checkState(w.t.Context(), w.shown(), want, requests)
}

// checkState also checks how many requests have come since the beginning.
func (w *world) checkState(ctx context.Context, state tls.ConnectionState, want string, requests int) {
	w.t.Helper()
	err := w.checker.Check(ctx, state, time.Now)
	var refused *Error
	switch {
	case want == "" && err != nil:
		w.t.Errorf("%v; want no error", err)
	case want != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), want)):
		w.t.Errorf("%v; want %q", err, want)
	case want != "" && !strings.Contains(err.Error(), `"CN=a.example"`):
		w.t.Errorf("%v; want the subject", err)
	case want != "" && refused.Revoked != strings.Contains(want, "is revoked"):
		w.t.Errorf("%v: revoked %t", err, refused.Revoked)
	}
	if n := w.responder.Requests(); n != requests {
		w.t.Errorf("%d requests, want %d", n, requests)
	}
}

// roundTrip is an http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
