package canned

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"math/big"
	"net"
	"strings"
	"time"
)

// Addresses are those of one server.
type Addresses struct {
	Plain, TLS, Zstd string
	// Certificate is the one with which the server speaks TLS. It signs itself.
	Certificate *x509.Certificate
}

// ParseAddresses reads the line that [Serve] writes.
func ParseAddresses(line string) (Addresses, error) {
	words := strings.Fields(line)
	if len(words) != 4 {
		return Addresses{}, fmt.Errorf("the line of the canned server has %d words; it must have 4", len(words))
	}
	der, err := base64.StdEncoding.DecodeString(words[3])
	if err != nil {
		return Addresses{}, err
	}
	certificate, err := x509.ParseCertificate(der)
	return Addresses{Plain: words[0], TLS: words[1], Zstd: words[2], Certificate: certificate}, err
}

// ClientTLS returns the configuration of a client that trusts the server's certificate.
func (a *Addresses) ClientTLS() *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(a.Certificate)
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}
}

func newCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "canned server"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
