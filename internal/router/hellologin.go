package router

import (
	"slices"

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
	at, dst := wire.BeginEmbedded(dst, "speculativeAuthenticate")
	return wire.EndDocument(appendSASL(dst, false, payload), at)
}

// appendMechanisms appends what a hello asks for with saslSupportedMechs, "database.name": the mechanisms of that user. One who does not exist
// has all.
func (c *client) appendMechanisms(dst, body []byte) []byte {
	asked := field(body, "saslSupportedMechs")
	db, name, ok := cutNamespace(asked.Text())
	if !ok || c.router.accounts == nil {
		return dst
	}
	names := mechanisms
	if known, err := c.router.accounts.verifiers(c.ctx, id{db, name}); err == nil && known != nil {
		names = slices.DeleteFunc(slices.Clone(mechanisms), func(m string) bool { _, has := known[m]; return !has })
	}
	return wire.AppendStrings(dst, "saslSupportedMechs", names)
}
