package couchbase

import (
	"context"
	"crypto/tls"
	"fmt"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
)

// of returns the credential for an endpoint.
func (c *credentials) of(ctx context.Context, service ServiceType, endpoint string) (credential, error) {
	a := *c.current.Load()
	return apart(ctx, a, func() (credential, error) { return c.ask(a, service, endpoint) })
}

// certificate returns the client's certificate for a TLS handshake; without one, an empty one.
func (c *credentials) certificate(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	a := *c.current.Load()
	certificate, err := apart(info.Context(), a, func() (*tls.Certificate, error) {
		return a.Certificate(AuthCertRequest{Service: ServiceTypeKeyValue})
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("couchbase: the Authenticator's certificate: %w", err)
	case certificate == nil:
		return &tls.Certificate{}, nil
	}
	return certificate, nil
}

// apart asks an authenticator. One of an application is asked on a goroutine of its own, because it is asked on goroutines of the
// client, and of net/http, where its panic would end the process, its runtime.Goexit would leave a connection half made, and its wait
// would hold up Close.
func apart[T any](ctx context.Context, a Authenticator, ask func() (T, error)) (T, error) {
	switch a.(type) {
	case PasswordAuthenticator, *PasswordAuthenticator, JWTAuthenticator, *JWTAuthenticator, CertificateAuthenticator, *CertificateAuthenticator:
		return ask()
	}
	return panicked.Apart(ctx, "the Authenticator", func(context.Context) (T, error) { return ask() })
}
