package mongotest

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
)

// oidcDialogue is MONGODB-OIDC: the client sends a token, or the name of a user first, which is answered with the identity provider.
type oidcDialogue struct{ named bool }

func (d *oidcDialogue) step(x *exec, payload []byte) error {
	var message struct {
		Token *string `bson:"jwt"`
		Name  string  `bson:"n"`
	}
	err := bson.Unmarshal(payload, &message)
	switch {
	case err != nil, d.named && message.Token == nil:
		return errAuthentication
	case message.Token == nil:
		return d.name(x, message.Name)
	}
	for _, p := range x.conn.deployment.config.providers {
		if owner, err := p.Accept(*message.Token); err == nil && owner.Name != "" {
			x.conn.deployment.addExternalUser(owner.Name, account.OIDC)
			x.conn.login(account.External, owner.Name)
			x.conn.Expires = owner.Expires
			appendSasl(x, true, nil)
			return nil
		}
	}
	return errAuthentication
}

// name answers the name of a user with the provider.
func (d *oidcDialogue) name(x *exec, name string) error {
	p := x.conn.deployment.config.provider(name)
	if p == nil {
		return errAuthentication
	}
	at, doc := wire.BeginDocument(nil)
	doc = wire.AppendString(doc, "issuer", p.Issuer)
	if p.ClientID != "" {
		doc = wire.AppendString(doc, "clientId", p.ClientID)
	}
	if len(p.RequestScopes) > 0 {
		doc = wire.AppendStrings(doc, "requestScopes", p.RequestScopes)
	}
	d.named, x.conn.dialogue = true, d
	appendSasl(x, false, wire.EndDocument(doc, at))
	return nil
}
