package couchbase

import "crypto/tls"

// JWTAuthenticator has a JSON web token (RFC 0048). It needs TLS. A token expires: give the cluster the next one in time with
// [Cluster.SetAuthenticator].
type JWTAuthenticator struct {
	Token string
}

var _ Authenticator = JWTAuthenticator{}

// SupportsTLS returns true.
func (ja JWTAuthenticator) SupportsTLS() bool { return true }

// SupportsNonTLS returns false: the token itself is sent.
func (ja JWTAuthenticator) SupportsNonTLS() bool { return false }

// Certificate returns no certificate.
func (ja JWTAuthenticator) Certificate(AuthCertRequest) (*tls.Certificate, error) {
	return nil, nil //nolint:nilnil // the interface says that nil means none
}

// Credentials returns an empty name and password.
func (ja JWTAuthenticator) Credentials(AuthCredsRequest) ([]UserPassPair, error) {
	return []UserPassPair{{}}, nil
}

// JWT returns the token.
func (ja JWTAuthenticator) JWT(AuthCredsRequest) (JWT, error) { return ja.Token, nil }

// DefaultSaslMechanisms returns OAUTHBEARER.
func (ja JWTAuthenticator) DefaultSaslMechanisms(bool) []SaslMechanism {
	return []SaslMechanism{OAuthBearerSaslMechasnism}
}

// String returns nothing of the token, so that logs do not show it.
func (ja JWTAuthenticator) String() string { return "JWTAuthenticator" }

// GoString returns the same as String.
func (ja JWTAuthenticator) GoString() string { return ja.String() }
