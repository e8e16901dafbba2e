package drivererror

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"

	"golang.org/x/crypto/ocsp"

	xocsp "go.mongodb.org/mongo-driver/v2/x/mongo/driver/ocsp"
)

// AsRevoked sets target, if it is an **ocsp.Error, to that of a certificate that is revoked. Only the official package can make one, so it gets
// the certificate, without what it could object to, and a cache that says revoked. It does not use the network.
func AsRevoked(target any, revoked *x509.Certificate) bool {
	t, ok := target.(**xocsp.Error)
	if !ok {
		return false
	}
	bare := &x509.Certificate{SerialNumber: revoked.SerialNumber, RawSubject: revoked.RawSubject, RawSubjectPublicKeyInfo: revoked.RawSubjectPublicKeyInfo}
	err := xocsp.Verify(context.Background(), tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{bare}}},
		&xocsp.VerifyOptions{Cache: saysRevoked{}, DisableEndpointChecking: true})
	return errors.As(err, t)
}

// saysRevoked is a cache of the official driver with one answer.
type saysRevoked struct{}

func (saysRevoked) Get(*ocsp.Request) *xocsp.ResponseDetails {
	return &xocsp.ResponseDetails{Status: ocsp.Revoked}
}

func (saysRevoked) Update(_ *ocsp.Request, d *xocsp.ResponseDetails) *xocsp.ResponseDetails { return d }
