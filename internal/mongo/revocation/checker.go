package revocation

import (
	"context"
	"crypto"
	"crypto/tls"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/crypto/ocsp"
)

// Checker checks the certificates of one client's servers. It is safe for concurrent use.
type Checker struct {
	client      *http.Client
	stapledOnly bool
	cache       cache
}

// New returns a Checker with an empty cache. A nil client means that of package http. With stapledOnly no responder is asked
// (tlsDisableOCSPEndpointCheck).
func New(client *http.Client, stapledOnly bool) *Checker {
	if client == nil {
		client = http.DefaultClient
	}
	return &Checker{client: client, stapledOnly: stapledOnly}
}

// Check returns an *Error if the server's certificate is revoked, if the server does not staple an answer although its certificate demands that,
// and if what it staples is invalid. It returns nil if the certificate is good or if nobody knows, and for a certificate that was not verified.
// The clock is that of TLS. Check waits for responders until ctx ends, and not longer than the specification permits.
//
// Source: OCSP Support, "Suggested OCSP Behavior"; the steps about revocation lists are left out.
func (c *Checker) Check(ctx context.Context, state tls.ConnectionState, clock func() time.Time) error {
	if len(state.VerifiedChains) == 0 {
		return nil
	}
	about := certificateOf(&state)
	refused := func(err error) error { return &Error{Certificate: about.leaf, Err: err} }
	switch must, err := mustStaple(about.leaf); {
	case err != nil:
		return refused(err)
	case must && len(state.OCSPResponse) == 0:
		return refused(errNotStapled)
	case about.issuer == nil:
		return nil
	}
	a, err := c.find(ctx, &about, &state, clock)
	switch {
	case err != nil:
		return refused(err)
	case a.status == ocsp.Revoked:
		return &Error{Certificate: about.leaf, Revoked: true, Err: &a.revoked}
	}
	return nil
}

// find returns the answer that counts, one with the status Unknown if there is none. The error is about what the server has stapled.
func (c *Checker) find(ctx context.Context, about *certificate, state *tls.ConnectionState, clock func() time.Time) (answer, error) {
	unknown := answer{status: ocsp.Unknown}
	_, id, err := about.request(crypto.SHA256)
	if err != nil {
		return unknown, fmt.Errorf("has an issuer whose key cannot be read: %w", err)
	}
	if len(state.OCSPResponse) > 0 {
		a, err := about.read(state.OCSPResponse, clock())
		switch {
		case err == nil && a.isConclusive():
			return c.learn(id, a, clock()), nil
		case err != nil && state.DidResume && isOfAnotherTime(err):
			// The session has kept the answer; the server could not staple a newer one.
		case err != nil:
			return unknown, fmt.Errorf("is shown with a stapled OCSP answer that is invalid: %w", err)
		}
	}
	if a, ok := c.cache.get(id, clock()); ok {
		return a, nil
	}
	if c.stapledOnly {
		return unknown, nil
	}
	a, ok := c.ask(ctx, about, clock)
	if !ok {
		return unknown, nil
	}
	return c.learn(id, a, clock()), nil
}

// learn adds an answer to the cache, and returns the one that counts: the newest, but an answer that says revoked counts when it comes.
func (c *Checker) learn(id certID, a answer, now time.Time) answer {
	newest := c.cache.put(id, a, now)
	if a.status == ocsp.Revoked {
		return a
	}
	return newest
}
