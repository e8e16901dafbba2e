package frames

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

// secret has what a proxy with TLS and its clients need.
type secret struct {
	server      *tls.Config
	roots       *x509.CertPool
	certificate *tls.Certificate // of the administrator
}

func newSecret() (*secret, error) {
	authority, err := testserver.NewAuthority("proxy")
	if err != nil {
		return nil, err
	}
	server, err := authority.Server([]string{"127.0.0.1"})
	if err != nil {
		return nil, err
	}
	client, err := authority.Client(pkix.Name{CommonName: "Administrator"})
	if err != nil {
		return nil, err
	}
	return &secret{server, client.RootCAs, &client.Certificates[0]}, nil
}
