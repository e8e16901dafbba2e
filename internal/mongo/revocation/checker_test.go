package revocation

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

const (
	good, revoked, unknown = testserver.OCSPGood, testserver.OCSPRevoked, testserver.OCSPUnknown
	silence                = testserver.OCSPSilence
)

// Source: OCSP Support, "Suggested OCSP Behavior", steps 1 to 3, 7 and 10.
func TestWhichCertificatesAreRefused(t *testing.T) {
	const invalid = "is shown with a stapled OCSP answer that is invalid: "
	for _, c := range []struct {
		name           string
		settings       testserver.OCSPSettings
		answer, staple testserver.OCSPAnswer
		stapledOnly    bool
		want           string
		requests       int
		after          time.Duration
	}{
		{name: "a good answer is stapled", settings: testserver.OCSPSettings{Staple: true}, answer: revoked},
		{name: "a revoked answer is stapled", settings: testserver.OCSPSettings{Staple: true}, staple: revoked, want: "is revoked since 1999-12-31T22:00:00Z (keyCompromise)"},
		{name: "an answer is stapled that knows nothing", settings: testserver.OCSPSettings{Staple: true}, staple: unknown, answer: revoked, want: "is revoked", requests: 1},
		{name: "an expired answer is stapled", settings: testserver.OCSPSettings{Staple: true}, staple: testserver.OCSPExpired, want: invalid + "the answer is valid from 1999-12-31T22:00:00Z to 1999-12-31T23:00:00Z, and it is 2000-01-01T00:00:00Z"},
		{name: "an answer is stapled that is not valid yet", settings: testserver.OCSPSettings{Staple: true}, staple: testserver.OCSPNotYetValid, want: invalid + "the answer is valid from"},
		{name: "an answer about another certificate is stapled", settings: testserver.OCSPSettings{Staple: true}, staple: testserver.OCSPOtherCertificate, want: invalid},
		{name: "a stranger's answer is stapled", settings: testserver.OCSPSettings{Staple: true}, staple: testserver.OCSPWrongSigner, want: invalid + errOtherSigner.Error()},
		{name: "an answer is stapled whose signer must not sign", settings: testserver.OCSPSettings{Staple: true}, staple: testserver.OCSPWrongUsage, want: invalid + errSignersUsage.Error()},
		{name: "an error is stapled", settings: testserver.OCSPSettings{Staple: true}, staple: testserver.OCSPTryLater, want: invalid},
		{name: "bytes are stapled that mean nothing", settings: testserver.OCSPSettings{Staple: true}, staple: testserver.OCSPMalformed, want: invalid},
		{name: "a delegated responder's good answer is stapled", settings: testserver.OCSPSettings{Staple: true, Delegated: true}},
		{name: "a delegated responder's revoked answer is stapled", settings: testserver.OCSPSettings{Staple: true, Delegated: true}, staple: revoked, want: "is revoked"},

		{name: "the certificate demands an answer that is stapled", settings: testserver.OCSPSettings{Staple: true, MustStaple: true}},
		{name: "the certificate demands an answer that is not stapled", settings: testserver.OCSPSettings{MustStaple: true}, want: errNotStapled.Error()},
		{name: "the same with no responder", settings: testserver.OCSPSettings{MustStaple: true}, answer: silence, want: errNotStapled.Error()},
		{name: "the same without requests", settings: testserver.OCSPSettings{MustStaple: true}, stapledOnly: true, want: errNotStapled.Error()},

		{name: "the responder says good", answer: good, requests: 1},
		{name: "the responder says revoked", answer: revoked, requests: 1, want: "is revoked"},
		{name: "a delegated responder says good", settings: testserver.OCSPSettings{Delegated: true}, requests: 1},
		{name: "a delegated responder says revoked", settings: testserver.OCSPSettings{Delegated: true}, answer: revoked, requests: 1, want: "is revoked"},
		{name: "the responder knows nothing", answer: unknown, requests: 1},
		{name: "the responder's answer has expired", answer: testserver.OCSPExpired, requests: 1},
		{name: "the responder is another authority's", answer: testserver.OCSPWrongSigner, requests: 1},
		{name: "the responder has an error", answer: testserver.OCSPTryLater, requests: 1},
		{name: "the responder answers nonsense", answer: testserver.OCSPMalformed, requests: 1},
		{name: "the responder is down", answer: testserver.OCSPUnavailable, requests: 1},
		{name: "the responder is silent", answer: silence, requests: 1, after: 5 * time.Second},
		{name: "the responder must not be asked", answer: revoked, stapledOnly: true},
		{name: "the responder must not be asked, a revoked answer is stapled", settings: testserver.OCSPSettings{Staple: true}, staple: revoked, stapledOnly: true, want: "is revoked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, c.settings)
				w.responder.Set(c.answer, c.staple)
				w.checker.stapledOnly = c.stapledOnly
				began := time.Now()
				w.check(c.want, c.requests)
				if took := time.Since(began); took != c.after {
					t.Errorf("it took %v, want %v", took, c.after)
				}
			})
		})
	}
}

// A silent responder is no reason for a connection that comes too late, and neither is the end of the context.
func TestASilentResponderLeavesTimeForTheConnection(t *testing.T) {
	for _, c := range []struct{ timeout, want time.Duration }{
		{30 * time.Second, 5 * time.Second}, {10 * time.Second, 5 * time.Second}, {2 * time.Second, time.Second}, {0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, testserver.OCSPSettings{})
			w.responder.Set(silence, silence)
			ctx, cancel := context.WithTimeout(t.Context(), c.timeout)
			defer cancel()
			began := time.Now()
			w.checkState(ctx, w.shown(), "", 1)
			if took := time.Since(began); took != c.want {
				t.Errorf("with a timeout of %v it took %v, want %v", c.timeout, took, c.want)
			}
		})
	}
}

func TestACertificateThatNobodyVerifiedIsNotChecked(t *testing.T) {
	w := newWorld(t, testserver.OCSPSettings{Staple: true, MustStaple: true})
	w.responder.Set(revoked, revoked)
	state := w.shown()
	state.VerifiedChains = nil
	w.checkState(t.Context(), state, "", 0)
}

func TestOneByteIsNotAnAnswer(t *testing.T) {
	w := newWorld(t, testserver.OCSPSettings{})
	state := w.shown()
	state.OCSPResponse = []byte{0x30}
	w.checkState(t.Context(), state, "stapled OCSP answer that is invalid", 0)
}

// A session that is resumed has the answer of its first handshake. It may have expired since, which is not the server's fault.
func TestAResumedSession(t *testing.T) {
	for _, c := range []struct {
		name     string
		answer   testserver.OCSPAnswer
		want     string
		requests int
	}{
		{"whose answer has expired is checked by the responder", good, "", 1},
		{"whose answer has expired may be revoked by now", revoked, "is revoked", 1},
		{"whose answer has expired may have a silent responder", silence, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, testserver.OCSPSettings{Staple: true, MustStaple: true})
				state := w.shown()
				w.checkState(t.Context(), state, "", 0)
				w.responder.Set(c.answer, good)
				state.DidResume = true
				w.checkState(t.Context(), state, "", 0)
				<-time.After(time.Hour)
				w.checkState(t.Context(), state, c.want, c.requests)
				state.DidResume = false
				w.checkState(t.Context(), state, "stapled OCSP answer that is invalid", c.requests)
			})
		})
	}
	w := newWorld(t, testserver.OCSPSettings{Staple: true})
	w.responder.Set(good, testserver.OCSPWrongSigner)
	state := w.shown()
	state.DidResume = true
	w.checkState(t.Context(), state, errOtherSigner.Error(), 0)

	// Another client, which checks nothing, may have put the session into a cache that both have.
	w = newWorld(t, testserver.OCSPSettings{MustStaple: true})
	state = w.shown()
	state.DidResume = true
	w.checkState(t.Context(), state, errNotStapled.Error(), 0)
}

// Neither is it the server's fault that the certificate has expired that signed the answer: those of responders may be valid for a day.
func TestAResumedSessionWhoseSignerHasExpired(t *testing.T) {
	for _, lasts := range []time.Duration{time.Minute, 2 * time.Hour} { // the answer itself
		synctest.Test(t, func(t *testing.T) {
			issuer := made(t, "issuer", nil, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(24 * time.Hour) })
			leaf := made(t, "leaf", issuer, nil)
			delegate := made(t, "delegate", issuer, func(c *x509.Certificate) {
				c.IsCA, c.ExtKeyUsage, c.NotAfter = false, []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}, time.Now().Add(time.Minute)
			})
			state := tls.ConnectionState{VerifiedChains: []certs{{leaf.Certificate, issuer.Certificate}}, DidResume: true}
			state.OCSPResponse = says(t, leaf, issuer, delegate, func(r *ocsp.Response) {
				r.Status, r.Certificate, r.NextUpdate = ocsp.Good, delegate.Certificate, time.Now().Add(lasts)
			})
			<-time.After(time.Minute + time.Second)
			checker := New(&http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return reply(503, http.NoBody) })}, false)
			if err := checker.Check(t.Context(), state, time.Now); err != nil {
				t.Errorf("nobody knows: %v", err)
			}
			checker.client.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
				return reply(200, bytes.NewReader(says(t, leaf, issuer, issuer, nil)))
			})
			if err := checker.Check(t.Context(), state, time.Now); err == nil || !strings.Contains(err.Error(), "is revoked") {
				t.Errorf("the responder says that it is revoked: %v", err)
			}
			state.DidResume = false
			if err := checker.Check(t.Context(), state, time.Now); err == nil || strings.Contains(err.Error(), "is revoked") {
				t.Errorf("a new handshake: %v", err)
			}
		})
	}
}
