package couchbase

import "crypto/tls"

// UserPassPair is a name and a password.
type UserPassPair struct {
	Username string
	Password string
}

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

// Authenticator gives the client its credentials. It is asked for each new connection and each HTTP request, so it can change them.
// It must be safe for concurrent use. The client uses the first name and password of Credentials.
type Authenticator interface {
	// SupportsTLS reports whether the credentials may be used over TLS.
	SupportsTLS() bool
	// SupportsNonTLS reports whether the credentials may be used without TLS.
	SupportsNonTLS() bool
	// Certificate returns the client's certificate, or nil if there is none.
	Certificate(req AuthCertRequest) (*tls.Certificate, error)
	// Credentials returns names and passwords. An empty pair means that the certificate is enough.
	Credentials(req AuthCredsRequest) ([]UserPassPair, error)
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

// SaslMechanism is a way to prove a password to a node.
type SaslMechanism string

// The mechanisms. PLAIN sends the password itself: without TLS it is used only if [SecurityConfig.AllowedSaslMechanisms] has it.
const (
	PlainSaslMechanism       SaslMechanism = "PLAIN"
	ScramSha1SaslMechanism   SaslMechanism = "SCRAM-SHA1"
	ScramSha256SaslMechanism SaslMechanism = "SCRAM-SHA256"
	ScramSha512SaslMechanism SaslMechanism = "SCRAM-SHA512"
)
