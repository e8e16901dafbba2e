package testserver

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
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
	key         crypto.Signer
	newKey      func() (crypto.Signer, error) // also for what it signs
	pool        *x509.CertPool
}

// The certificates are valid for as long as any clock may say, that of a test's bubble (the year 2000) included.
var (
	validFrom  = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	validUntil = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// NewAuthority returns an authority with a certificate of its own, which has a name.
func NewAuthority(name string) (*Authority, error) { return newAuthority(name, newECDSAKey) }

// NewRSAAuthority is NewAuthority with RSA keys.
func NewRSAAuthority(name string) (*Authority, error) { return newAuthority(name, newRSAKey) }

func newECDSAKey() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }
func newRSAKey() (crypto.Signer, error)   { return rsa.GenerateKey(rand.Reader, 2048) }

func newAuthority(name string, newKey func() (crypto.Signer, error)) (*Authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: validFrom, NotAfter: validUntil,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	a := &Authority{key: key, newKey: newKey, pool: x509.NewCertPool()}
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
	return a.serverWith(certificate), nil
}

// serverWith returns the settings of servers with a certificate.
func (a *Authority) serverWith(certificate tls.Certificate) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{certificate}, ClientCAs: a.pool, ClientAuth: tls.VerifyClientCertIfGiven, MinVersion: tls.VersionTLS12,
	}
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
	return a.issue(subject, hosts, func(*x509.Certificate) {})
}

// issue makes a certificate of which a function changes what it wants.
func (a *Authority) issue(subject pkix.Name, hosts []string, change func(*x509.Certificate)) (tls.Certificate, error) {
	key, err := a.newKey()
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) // not the time: a fake clock may stand still
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: subject, NotBefore: validFrom, NotAfter: validUntil,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	change(template)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der, a.certificate.Raw}, PrivateKey: key, Leaf: leaf}, err
}

// PEM returns the authority's certificate as text.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}
