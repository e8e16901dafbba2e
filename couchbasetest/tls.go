package couchbasetest

import (
	"crypto/tls"
	"crypto/x509/pkix"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

// TLS makes the nodes offer each service with TLS too, on ports of their own, with certificates of an authority of their own. The
// connection string is then one with TLS; [Cluster.ClientTLS] returns what a client needs.
func TLS() Option { return func(c *config) { c.withTLS = true } }

// certifyLocked makes a node's certificate.
func (n *node) certifyLocked() error {
	c := n.cluster
	if !c.withTLS {
		return nil
	}
	var err error
	if c.authority == nil {
		if c.authority, err = testserver.NewAuthority("couchbasetest authority"); err != nil {
			return err
		}
	}
	n.tls, err = c.authority.Server([]string{n.host, "localhost", n.externalHost()})
	return err
}

// CACertificate returns the certificate of the authority that signed the nodes' certificates, as PEM, for clients in other
// languages; nil without TLS.
func (c *Cluster) CACertificate() []byte {
	if c.authority == nil {
		return nil
	}
	return c.authority.PEM()
}

// ClientTLS returns a client's side of the cluster's TLS. With the name of a user it includes a certificate for that user, who then
// needs no password. Without TLS it returns nil.
func (c *Cluster) ClientTLS(user ...string) (*tls.Config, error) {
	if c.authority == nil {
		return nil, nil
	}
	var subjects []pkix.Name
	for _, name := range user {
		subjects = append(subjects, pkix.Name{CommonName: name})
	}
	return c.authority.Client(subjects...)
}

// secure makes the handshake of a TLS connection. A client whose certificate names the user is logged in by it.
func (c *conn) secure(t *tls.Conn) bool {
	if t.Handshake() != nil {
		return false
	}
	for _, certificate := range t.ConnectionState().PeerCertificates {
		if certificate.Subject.CommonName == c.cluster.username {
			c.cluster.mu.Lock()
			c.user = c.cluster.username
			c.cluster.mu.Unlock()
		}
	}
	return true
}
