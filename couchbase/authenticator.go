package couchbase

import "crypto/tls"

// UserPassPair is a name and a password.
type UserPassPair struct {
	Username string
	Password string
}

// String returns the name, so that logs do not show the password.
func (p UserPassPair) String() string { return "UserPassPair(" + p.Username + ")" }

// GoString returns the same as String.
func (p UserPassPair) GoString() string { return p.String() }

// JWT is a JSON web token.
type JWT = string

// AuthCredsRequest says for which service and node a name and password are needed.
type AuthCredsRequest struct {
	Service  ServiceType
	Endpoint string
}

// AuthCertRequest says for which service and node a certificate is needed.
type AuthCertRequest struct {
	Service  ServiceType
	Endpoint string
}

// Authenticator gives the client its credentials. It is asked for each new connection and each HTTP request, so it can change them;
// [Cluster.SetAuthenticator] replaces it. It must be safe for concurrent use. A token of JWT wins over Credentials. A panic, outside of
// Connect and SetAuthenticator, is an error of what it was asked for, and so is an answer that comes later than that may take.
type Authenticator interface {
	// SupportsTLS reports whether the credentials may be used over TLS.
	SupportsTLS() bool
	// SupportsNonTLS reports whether the credentials may be used without TLS.
	SupportsNonTLS() bool
	// Certificate returns the client's certificate, or nil if there is none.
	Certificate(req AuthCertRequest) (*tls.Certificate, error)
	// Credentials returns one name with its password. An empty pair means that the token, or the certificate, is enough.
	Credentials(req AuthCredsRequest) ([]UserPassPair, error)
	// JWT returns a JSON web token, or "" if there is none.
	JWT(req AuthCredsRequest) (JWT, error)
	// DefaultSaslMechanisms returns the ways to log in, the most wanted first, if [SecurityConfig.AllowedSaslMechanisms] is empty.
	// None means those of [PasswordAuthenticator], or of [JWTAuthenticator] if there is a token. PLAIN without TLS is left out.
	DefaultSaslMechanisms(tlsEnabled bool) []SaslMechanism
}

// PasswordAuthenticator has one name and password.
type PasswordAuthenticator struct {
	Username string
	Password string
}

var _ Authenticator = PasswordAuthenticator{}

// SupportsTLS returns true.
func (ra PasswordAuthenticator) SupportsTLS() bool { return true }

// SupportsNonTLS returns true: without TLS the password is not sent, only a proof of it (SCRAM).
func (ra PasswordAuthenticator) SupportsNonTLS() bool { return true }

// Certificate returns no certificate.
func (ra PasswordAuthenticator) Certificate(AuthCertRequest) (*tls.Certificate, error) {
	return nil, nil //nolint:nilnil // the interface says that nil means none
}

// Credentials returns the name and password.
func (ra PasswordAuthenticator) Credentials(AuthCredsRequest) ([]UserPassPair, error) {
	return []UserPassPair{{Username: ra.Username, Password: ra.Password}}, nil
}

// JWT returns no token.
func (ra PasswordAuthenticator) JWT(AuthCredsRequest) (JWT, error) { return "", nil }

// DefaultSaslMechanisms returns PLAIN with TLS, and SCRAM without it, which does not show the password to the network.
func (ra PasswordAuthenticator) DefaultSaslMechanisms(tlsEnabled bool) []SaslMechanism {
	if tlsEnabled {
		return []SaslMechanism{PlainSaslMechanism}
	}
	return []SaslMechanism{ScramSha512SaslMechanism, ScramSha256SaslMechanism, ScramSha1SaslMechanism}
}

// String returns the name, so that logs do not show the password.
func (ra PasswordAuthenticator) String() string { return "PasswordAuthenticator(" + ra.Username + ")" }

// GoString returns the same as String.
func (ra PasswordAuthenticator) GoString() string { return ra.String() }

// CertificateAuthenticator has a client certificate. It needs TLS.
type CertificateAuthenticator struct {
	ClientCertificate *tls.Certificate
}

var _ Authenticator = CertificateAuthenticator{}

// SupportsTLS returns true.
func (ca CertificateAuthenticator) SupportsTLS() bool { return true }

// SupportsNonTLS returns false.
func (ca CertificateAuthenticator) SupportsNonTLS() bool { return false }

// Certificate returns the certificate.
func (ca CertificateAuthenticator) Certificate(AuthCertRequest) (*tls.Certificate, error) {
	return ca.ClientCertificate, nil
}

// Credentials returns an empty name and password.
func (ca CertificateAuthenticator) Credentials(AuthCredsRequest) ([]UserPassPair, error) {
	return []UserPassPair{{}}, nil
}

// JWT returns no token.
func (ca CertificateAuthenticator) JWT(AuthCredsRequest) (JWT, error) { return "", nil }

// DefaultSaslMechanisms returns none: the certificate is the login.
func (ca CertificateAuthenticator) DefaultSaslMechanisms(bool) []SaslMechanism {
	return []SaslMechanism{}
}

// String returns nothing of the certificate or its key.
func (ca CertificateAuthenticator) String() string { return "CertificateAuthenticator" }

// GoString returns the same as String.
func (ca CertificateAuthenticator) GoString() string { return ca.String() }

// SaslMechanism is a way to prove a password or a token to a node.
type SaslMechanism string

// The mechanisms. PLAIN sends the password itself: without TLS it is used only if [SecurityConfig.AllowedSaslMechanisms] has it.
// OAUTHBEARER, whose name gocb writes so, sends a token, with TLS only.
const (
	PlainSaslMechanism       SaslMechanism = "PLAIN"
	ScramSha1SaslMechanism   SaslMechanism = "SCRAM-SHA1"
	ScramSha256SaslMechanism SaslMechanism = "SCRAM-SHA256"
	ScramSha512SaslMechanism SaslMechanism = "SCRAM-SHA512"

	OAuthBearerSaslMechasnism SaslMechanism = "OAUTHBEARER"
)
