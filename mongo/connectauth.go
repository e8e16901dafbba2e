package mongo

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
)

// authenticator returns the authenticator of the connections, nil without credentials. It returns an error for credentials that no
// server can accept, before any network use. The error has no secret.
func authenticator(o *options.ClientOptions) (*auth.Authenticator, error) {
	if o.Auth == nil {
		return nil, nil
	}
	c := o.Auth
	a, err := auth.New(auth.Credential{
		Mechanism: c.AuthMechanism, Source: c.AuthSource, Username: userOf(c), Password: c.Password,
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("mongo: Auth: %w", err)
	case len(c.AuthMechanismProperties) > 0:
		return nil, errors.New("mongo: Auth.AuthMechanismProperties is set; the mechanisms that Holdfast supports have no properties")
	case c.OIDCMachineCallback != nil, c.OIDCHumanCallback != nil:
		return nil, errors.New("mongo: Auth has an OIDC callback, but AuthMechanism is not MONGODB-OIDC")
	case c.AWSCredentialsProvider != nil:
		return nil, errors.New("mongo: Auth.AWSCredentialsProvider is set, but AuthMechanism is not MONGODB-AWS")
	case c.AuthMechanism == auth.X509:
		return a, checkCertificate(o)
	}
	return a, nil
}

// userOf returns the user of a credential. The name of MONGODB-X509 is that of the certificate: the official parser of
// connection strings fills it in, and nobody sends it.
func userOf(c *options.Credential) string {
	if c.AuthMechanism == auth.X509 {
		return ""
	}
	return c.Username
}

// checkCertificate returns an error if MONGODB-X509 has no certificate to show. The application's own dialer may show one.
func checkCertificate(o *options.ClientOptions) error {
	switch t := o.TLSConfig; {
	case t == nil && o.Dialer != nil:
		return nil
	case t == nil:
		return errors.New("mongo: Auth: MONGODB-X509 needs TLS with a client's certificate: set TLSConfig or tlsCertificateKeyFile")
	case len(t.Certificates) == 0 && t.GetClientCertificate == nil:
		return errors.New("mongo: Auth: MONGODB-X509 needs a client's certificate, and TLSConfig has none")
	}
	return nil
}
