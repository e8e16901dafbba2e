package mongotest

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"net"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

// TLS makes the servers speak TLS and nothing else, with certificates of an authority of their own. [Deployment.ClientTLS]
// returns what a client needs.
func TLS() Option { return deploymentOption(func(c *config) { c.tls = true }) }

// secure prepares certificates and users, before anybody can connect.
func (rs *Deployment) secure() error {
	if err := rs.addUsers(); err != nil {
		return err
	}
	if !rs.config.tls {
		return nil
	}
	o := rs.config.ocsp
	found := testserver.NewAuthority
	if o != nil && o.RSA {
		found = testserver.NewRSAAuthority
	}
	var err error
	if rs.authority, err = found("mongotest authority"); err != nil {
		return err
	}
	if o != nil {
		return rs.revocable(o)
	}
	rs.tls, err = rs.authority.Server(rs.hosts())
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
	return rs.authority.PEM()
}

// ClientTLS returns a client's side of the set's TLS. With a subject it includes a certificate for that, which MONGODB-X509
// can authenticate with: its user is of $external and named as the subject's String says. Without TLS it returns nil.
func (rs *Deployment) ClientTLS(subject ...pkix.Name) (*tls.Config, error) {
	if rs.tls == nil {
		return nil, nil
	}
	return rs.authority.Client(subject...)
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
