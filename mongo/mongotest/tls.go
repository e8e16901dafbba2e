package mongotest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/account"
)

// TLS makes the servers speak TLS and nothing else, with certificates of an authority of their own. [Deployment.ClientTLS]
// returns what a client needs.
func TLS() Option { return deploymentOption(func(c *config) { c.tls = true }) }

// authority signs the certificates of one set: the servers' and its clients'.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pool        *x509.CertPool
	server      *tls.Config
}

// The certificates are valid for as long as any clock may say, that of a test's bubble (the year 2000) included.
var (
	validFrom  = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	validUntil = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

func newAuthority(hosts []string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mongotest authority"}, NotBefore: validFrom, NotAfter: validUntil,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	a := &authority{key: key, pool: x509.NewCertPool()}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	a.pool.AddCert(a.certificate)
	server, err := a.issue(pkix.Name{CommonName: hosts[0]}, hosts)
	if err != nil {
		return nil, err
	}
	a.server = &tls.Config{
		Certificates: []tls.Certificate{server}, ClientCAs: a.pool, ClientAuth: tls.VerifyClientCertIfGiven, MinVersion: tls.VersionTLS12,
	}
	return a, nil
}

// issue makes a certificate for a subject, and for hosts if it is a server's.
func (a *authority) issue(subject pkix.Name, hosts []string) (tls.Certificate, error) {
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

// secure prepares certificates and users, before anybody can connect.
func (rs *Deployment) secure() error {
	for _, u := range rs.config.users {
		a, err := account.New(u.Database, u.Name, u.Password, u.Mechanisms)
		if err != nil {
			return err
		}
		if rs.userLocked(a.DB, a.Name) != nil {
			return fmt.Errorf("mongotest: Users: %s is there twice", a.FullName())
		}
		rs.users = append(rs.users, a)
		rs.guarded.Store(true)
	}
	if !rs.config.tls {
		return nil
	}
	var err error
	rs.tls, err = newAuthority(rs.hosts())
	return err
}

// hosts returns the names that the servers' certificate is for.
func (rs *Deployment) hosts() []string {
	hosts := []string{"127.0.0.1", "localhost"}
	addresses := rs.config.addresses
	if rs.network != nil {
		hosts = nil
		for _, s := range rs.servers {
			addresses = append(addresses, s.virtualAddr(rs))
		}
		for _, b := range rs.balancers {
			addresses = append(addresses, b.virtualAddr(rs))
		}
	}
	for _, a := range addresses {
		host, _, _ := net.SplitHostPort(a)
		hosts = append(hosts, host)
	}
	return hosts
}

// CACertificate returns the certificate of the authority that signed the servers' certificates, as PEM, for clients in other
// languages; nil without TLS.
func (rs *Deployment) CACertificate() []byte {
	if rs.tls == nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rs.tls.certificate.Raw})
}

// ClientTLS returns a client's side of the set's TLS. With a subject it includes a certificate for that, which MONGODB-X509
// can authenticate with: its user is of $external and named as the subject's String says. Without TLS it returns nil.
func (rs *Deployment) ClientTLS(subject ...pkix.Name) (*tls.Config, error) {
	if rs.tls == nil {
		return nil, nil
	}
	c := &tls.Config{RootCAs: rs.tls.pool, MinVersion: tls.VersionTLS12}
	for _, s := range subject {
		certificate, err := rs.tls.issue(s, nil)
		if err != nil {
			return nil, err
		}
		c.Certificates = append(c.Certificates, certificate)
	}
	return c, nil
}

// subject returns whom the certificate of the connection's other end names, "" if it showed none.
func (c *conn) subject() string {
	t, ok := c.nc.(*tls.Conn)
	if !ok {
		return ""
	}
	shown := t.ConnectionState().PeerCertificates
	if len(shown) == 0 {
		return ""
	}
	return shown[0].Subject.String()
}
