package testserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// Authority signs the certificates of the servers of one cluster, and of their clients.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pool        *x509.CertPool
}

// The certificates are valid for as long as any clock may say, that of a test's bubble (the year 2000) included.
var (
	validFrom  = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	validUntil = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// NewAuthority returns an authority with a certificate of its own, which has a name.
func NewAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: validFrom, NotAfter: validUntil,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	a := &Authority{key: key, pool: x509.NewCertPool()}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	a.pool.AddCert(a.certificate)
	return a, nil
}

// Server returns the settings of servers with these hosts, of which there must be one. They accept clients with a certificate of this
// authority, and clients without any.
func (a *Authority) Server(hosts []string) (*tls.Config, error) {
	certificate, err := a.Issue(pkix.Name{CommonName: hosts[0]}, hosts)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		Certificates: []tls.Certificate{certificate}, ClientCAs: a.pool, ClientAuth: tls.VerifyClientCertIfGiven, MinVersion: tls.VersionTLS12,
	}, nil
}

// Client returns the settings of a client. With a subject it has a certificate for that.
func (a *Authority) Client(subjects ...pkix.Name) (*tls.Config, error) {
	c := &tls.Config{RootCAs: a.pool, MinVersion: tls.VersionTLS12}
	for _, s := range subjects {
		certificate, err := a.Issue(s, nil)
		if err != nil {
			return nil, err
		}
		c.Certificates = append(c.Certificates, certificate)
	}
	return c, nil
}

// Issue makes a certificate for a subject, and for hosts if it is a server's.
func (a *Authority) Issue(subject pkix.Name, hosts []string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: subject, NotBefore: validFrom, NotAfter: validUntil,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	return tls.Certificate{Certificate: [][]byte{der, a.certificate.Raw}, PrivateKey: key}, err
}

// PEM returns the authority's certificate as text.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}
