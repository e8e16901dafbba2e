package router

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// speculate appends the answer to the first message of a login in a hello. A login that fails is not answered: the client then tries in the usual
// way.
func (c *client) speculate(dst, body []byte) []byte {
	asked := field(body, "speculativeAuthenticate")
	document := asked.Document()
	if document == nil || c.router.accounts == nil || c.account != nil {
		return dst
	}
	db := field(document, "db")
	if first := wire.Elements(document); first.Next() && string(first.Key) == "authenticate" {
		subject, refused := c.certificate(document, string(db.Text()))
		if refused != nil {
			return dst
		}
		at, dst := wire.BeginEmbedded(dst, "speculativeAuthenticate")
		return wire.EndDocument(appendSubject(dst, subject), at)
	}
	payload, refused := c.beginLogin(document, string(db.Text()))
	if refused != nil {
		return dst
	}
	if c.login.lacks { // a driver would go on with it
		c.login = nil
		return dst
	}
	at, dst := wire.BeginEmbedded(dst, "speculativeAuthenticate")
	return wire.EndDocument(appendSASL(dst, false, payload), at)
}

// appendMechanisms appends what a hello asks for with saslSupportedMechs, "database.name": the mechanisms of that user. One who does not exist
// has those of users who do.
func (c *client) appendMechanisms(dst, body []byte) []byte {
	asked := field(body, "saslSupportedMechs")
	db, name, ok := cutNamespace(asked.Text())
	user, valid := userOf(db, name)
	if !ok || !valid || c.router.accounts == nil {
		return dst
	}
	return wire.AppendStrings(dst, "saslSupportedMechs", c.kindOf(user).names())
}

// kindOf returns the kind of a user. As long as nobody can be asked it has all mechanisms: without any, drivers try the older one.
func (c *client) kindOf(user id) kind {
	secret, err := c.router.accounts.secret(c.ctx)
	if err != nil {
		return serverKind()
	}
	about, err := c.router.accounts.about(c.ctx, user)
	switch {
	case err != nil && !isRefusal(err):
		return serverKind()
	case about == nil:
		return c.router.kinds.fake(secret, user)
	}
	return kindOf(about.verifiers)
}
