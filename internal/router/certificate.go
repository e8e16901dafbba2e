package router

import (
	"crypto/tls"
	"strconv"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router/userfile"
)

// authenticate logs in the subject of the client's certificate.
func (c *client) authenticate(q *command) error {
	mechanism := field(q.Body, "mechanism")
	if name := string(mechanism.Text()); name != auth.X509 {
		return c.refuse(q, &refusal{code: codeMechanismUnavailable, name: "MechanismUnavailable", text: "authenticate takes " + auth.X509 + ", not " + strconv.Quote(name)})
	}
	subject, refused := c.certificate(q.Body, q.Database)
	if refused != nil {
		return c.refuse(q, refused)
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
	conn, ok := c.conn.(*tls.Conn)
	if !ok || db != userfile.External {
		return "", errLogin
	}
	state := conn.ConnectionState()
	if len(state.VerifiedChains) == 0 {
		return "", errLogin
	}
	subject = state.PeerCertificates[0].Subject.ToRDNSequence().String()
	asked := field(body, "user")
	a := c.router.accounts.certified(subject)
	if a == nil || asked.Type != 0 && string(asked.Text()) != subject || c.account != nil && c.account.id != a.id {
		c.router.cfg.Refused(c.conn.RemoteAddr(), "the login of the certificate of "+strconv.Quote(subject)+" failed")
		return "", errLogin
	}
	c.loggedIn(a)
	return subject, nil
}
