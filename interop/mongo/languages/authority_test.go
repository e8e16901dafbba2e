package languages

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
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority is a certificate authority that the drivers trust, and the router.
type authority struct {
	t      *testing.T
	folder string
	signed *x509.Certificate
	key    *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, folder: t.TempDir(), key: newKey(t)}
	template := certificate("the authority")
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
	a.signed = template
	der := a.sign(template, a.key)
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a.signed = signed
	a.write("authority.pem", pemCertificate(der))
	return a
}

// file is the name of the file with the authority's certificate.
func (a *authority) file() string { return filepath.Join(a.folder, "authority.pem") }

// server returns what a server at 127.0.0.1 shows.
func (a *authority) server() *tls.Config {
	template, key := certificate("the router"), newKey(a.t)
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	shown := tls.Certificate{Certificate: [][]byte{a.sign(template, key)}, PrivateKey: key}
	return &tls.Config{Certificates: []tls.Certificate{shown}, MinVersion: tls.VersionTLS12}
}

// client returns the configuration of a client that trusts the authority.
func (a *authority) client() *tls.Config {
	return &tls.Config{RootCAs: a.pool(), MinVersion: tls.VersionTLS12}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.signed)
	return pool
}

// clientFile returns the name of a file with a client's certificate and its key.
func (a *authority) clientFile(commonName string) string {
	template, key := certificate(commonName), newKey(a.t)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return a.write("client.pem", append(pemCertificate(a.sign(template, key)), private...))
}

func (a *authority) sign(template *x509.Certificate, key *ecdsa.PrivateKey) []byte {
	der, err := x509.CreateCertificate(rand.Reader, template, a.signed, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return der
}

func (a *authority) write(name string, text []byte) string {
	path := filepath.Join(a.folder, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func certificate(commonName string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: commonName, Organization: []string{"Example"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
}

func pemCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
