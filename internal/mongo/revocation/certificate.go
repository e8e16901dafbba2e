package revocation

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"slices"

	"golang.org/x/crypto/ocsp"
)

// certificate is a server's certificate and the one whose key has signed it.
type certificate struct {
	leaf, issuer *x509.Certificate
}

// certificateOf returns the certificate of a server. Its issuer is nil if nobody has shown it: an application may trust a certificate itself.
// All chains to a root begin with the same name and key of an issuer, because these have signed the certificate.
func certificateOf(state *tls.ConnectionState) certificate {
	for _, chain := range state.VerifiedChains {
		if len(chain) > 1 {
			return certificate{chain[0], chain[1]}
		}
	}
	leaf := state.VerifiedChains[0][0]
	for _, candidate := range append([]*x509.Certificate{leaf}, state.PeerCertificates...) {
		if hasSigned(candidate, leaf) {
			return certificate{leaf, candidate}
		}
	}
	return certificate{leaf, nil}
}

// hasSigned reports whether a certificate is the issuer of another, or of itself.
func hasSigned(issuer, c *x509.Certificate) bool {
	return bytes.Equal(issuer.RawSubject, c.RawIssuer) && issuer.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}

// certID is the CertID of RFC 6960, 4.1.1. That of a request to a responder is made by SHA-1, which all responders know, and that of the cache
// by SHA-256.
type certID struct {
	algorithm                   crypto.Hash
	nameHash, keyHash, serialNo string
}

// request returns an OCSP request for the certificate, and its CertID.
func (c *certificate) request(algorithm crypto.Hash) (der []byte, id certID, err error) {
	naming(func() { der, err = ocsp.CreateRequest(c.leaf, c.issuer, &ocsp.RequestOptions{Hash: algorithm}) })
	if err != nil {
		return nil, certID{}, err
	}
	r, err := ocsp.ParseRequest(der)
	if err != nil {
		return nil, certID{}, err
	}
	return der, certID{r.HashAlgorithm, string(r.IssuerNameHash), string(r.IssuerKeyHash), r.SerialNumber.String()}, nil
}

// statusRequest is the TLS extension by which a client asks for a stapled answer (RFC 6066). A certificate with this feature demands it of the
// server (RFC 7633).
const statusRequest = 5

var oidTLSFeature = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24}

// mustStaple reports whether a certificate demands a stapled answer.
func mustStaple(c *x509.Certificate) (bool, error) {
	for _, extension := range c.Extensions {
		if !extension.Id.Equal(oidTLSFeature) {
			continue
		}
		var features []int
		rest, err := asn1.Unmarshal(extension.Value, &features)
		if err != nil || len(rest) > 0 {
			return false, errFeature
		}
		return slices.Contains(features, statusRequest), nil
	}
	return false, nil
}
