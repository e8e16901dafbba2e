package router

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"strconv"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router/userfile"
)

// authenticate logs in the subject of the client's certificate.
func (c *client) authenticate(q *command) error {
	mechanism := field(q.Body, "mechanism")
	if name := string(mechanism.Text()); name != auth.X509 {
		refused := &refusal{code: codeMechanismUnavailable, name: "MechanismUnavailable", text: "authenticate takes " + auth.X509 + ", not " + strconv.Quote(name)}
		return c.refuse(q, c.tellWrongLogin(refused))
	}
	subject, refused := c.certificate(q.Body, q.Database)
	if refused != nil {
		return c.refuse(q, c.tellWrongLogin(refused))
	}
	return c.ok(q, appendSubject(nil, subject))
}

// appendSubject appends what a login with a certificate is answered.
func appendSubject(dst []byte, subject string) []byte {
	dst = wire.AppendString(dst, "dbname", userfile.External)
	return wire.AppendString(dst, "user", subject)
}

// certificate logs in the subject of the client's certificate, and returns it.
func (c *client) certificate(body []byte, db string) (subject string, refused *refusal) {
	if c.router.accounts == nil {
		return "", errNoUsers
	}
	subject, err := c.shownSubject()
	if err == nil && db != userfile.External {
		err = fmt.Errorf("the user's database is %.*q, it must be %s", mostTold, db, userfile.External)
	}
	if err != nil {
		c.router.cfg.Refused(c.conn.RemoteAddr(), "a login with a certificate failed: "+err.Error())
		return "", errLogin
	}
	asked := field(body, "user")
	a := c.router.accounts.certified(subject)
	if a == nil || asked.Type != 0 && string(asked.Text()) != subject || c.account != nil && c.account.id != a.id {
		c.router.cfg.Refused(c.conn.RemoteAddr(), "the login of the certificate of "+strconv.Quote(subject)+" failed")
		return "", errLogin
	}
	c.loggedIn(a)
	return subject, nil
}

// shownSubject returns the subject of the certificate that the client has shown.
func (c *client) shownSubject() (string, error) {
	conn, ok := c.conn.(*tls.Conn)
	if !ok {
		return "", errNoTLS
	}
	state := conn.ConnectionState()
	if len(state.VerifiedChains) == 0 {
		return "", errNoCertificate
	}
	return subjectOf(state.PeerCertificates[0])
}

var (
	errNoTLS         = errors.New("the connection is without TLS")
	errNoCertificate = errors.New("the client has shown no certificate for which an authority vouches")
)

// subjectOf returns the subject of a certificate as it is written there, in the form of RFC 2253. Package x509 sorts the parts, and leaves out those that it
// does not know: then two subjects could have one name.
func subjectOf(certificate *x509.Certificate) (string, error) {
	var parts pkix.RDNSequence
	rest, err := asn1.Unmarshal(certificate.RawSubject, &parts)
	if err != nil || len(rest) != 0 || len(parts) == 0 {
		return "", errors.Join(err, errSubject)
	}
	return parts.String(), nil
}

var errSubject = errors.New("the certificate has no subject")
