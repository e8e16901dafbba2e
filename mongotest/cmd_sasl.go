package mongotest

import (
	"errors"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://github.com/mongodb/specifications/blob/master/source/auth/auth.md

// dialogue is an authentication under way on a connection.
type dialogue interface {
	// step takes the client's next message and writes the answer. A dialogue that is not over becomes the connection's again.
	step(x *exec, payload []byte) error
}

var errAuthentication = mongoerr.Errorf(mongoerr.AuthenticationFailed, "Authentication failed.")

func cmdSaslStart(x *exec) error { return saslStart(x, x.Command.Raw, x.Command.DB) }

// saslStart answers a saslStart, of its own or within a hello.
func saslStart(x *exec, doc []byte, db string) error {
	mechanism, payload := string(query.Lookup(doc, "mechanism").Text()), query.Lookup(doc, "payload")
	if payload.Type != bson.TypeBinary {
		return mongoerr.Errorf(mongoerr.MissingField, "BSON field 'saslStart.payload' is missing but a required field")
	}
	d := newDialogue(x, mechanism, doc, db)
	if d == nil {
		return mongoerr.Errorf(mongoerr.MechanismUnavailable,
			"Received authentication for mechanism %s which is unknown or not enabled", mechanism)
	}
	x.conn.dialogue = nil
	return d.step(x, binaryData(payload))
}

// newDialogue begins a dialogue, nil if the server has not the mechanism. It has SCRAM always, others if somebody can use them.
func newDialogue(x *exec, mechanism string, doc []byte, db string) dialogue {
	rs := x.conn.deployment
	switch mechanism {
	case account.SCRAMSHA1, account.SCRAMSHA256:
		return newScramDialogue(x, mechanism, doc, db)
	case account.Plain:
		if rs.cluster.EnablesPlain() {
			return plainDialogue{db}
		}
	case account.AWS:
		if len(rs.config.awsIdentities) > 0 && db == account.External {
			return &awsDialogue{}
		}
	case account.OIDC:
		if len(rs.config.providers) > 0 && db == account.External {
			return &oidcDialogue{}
		}
	}
	return nil
}

// plainDialogue is PLAIN (RFC 4616): one message with the name and the password. The identity to act as, before them, must be empty or
// the same name.
type plainDialogue struct{ db string }

func (d plainDialogue) step(x *exec, payload []byte) error {
	parts := strings.Split(string(payload), "\x00")
	if len(parts) != 3 || parts[0] != "" && parts[0] != parts[1] {
		return errAuthentication
	}
	a := x.conn.deployment.cluster.User(d.db, parts[1])
	if a == nil || !a.AcceptsPlain(parts[2]) {
		return errAuthentication
	}
	x.conn.login(d.db, parts[1])
	appendSasl(x, true, nil)
	return nil
}

// binaryData returns the bytes of a BSON binary, nil if the value is none.
func binaryData(v query.Value) []byte {
	_, data, _ := bson.RawValue{Type: v.Type, Value: v.Data}.BinaryOK()
	return data
}

func cmdSaslContinue(x *exec) error {
	d := x.conn.dialogue
	if d == nil {
		return mongoerr.Errorf(mongoerr.ProtocolError, "No SASL session state found")
	}
	conversation := query.Lookup(x.Command.Raw, "conversationId")
	if id, ok := conversation.Integer(); !ok || id != 1 {
		return mongoerr.Errorf(mongoerr.ProtocolError, "sasl: Mismatched conversation id")
	}
	x.conn.dialogue = nil
	return d.step(x, binaryData(query.Lookup(x.Command.Raw, "payload")))
}

func appendSasl(x *exec, done bool, payload []byte) {
	dst := wire.AppendInt32(x.Result.Out, "conversationId", 1)
	dst = wire.AppendBool(dst, "done", done)
	x.Result.Out = wire.AppendBinary(dst, "payload", 0, payload)
}

// login notes who the connection's client is.
func (c *conn) login(db, name string) {
	c.User, c.Expires = c.deployment.cluster.User(db, name), time.Time{}
}

// https://www.mongodb.com/docs/manual/reference/command/logout/

func cmdLogout(x *exec) error {
	x.conn.User = nil
	return nil
}

// speculate answers a hello's attempt to authenticate with it. One that fails is not answered: the client then tries in the
// usual way.
func speculate(x *exec, e *wire.Element) error {
	doc := e.Document()
	if doc == nil {
		return fields.WrongType("hello", "speculativeAuthenticate", e.Type, "object")
	}
	db := query.Lookup(doc, "db")
	at, before := wire.BeginEmbedded(x.Result.Out, "speculativeAuthenticate")
	whole := x.Result.Out
	x.Result.Out = before
	if err := speculateOn(x, doc, string(db.Text())); err != nil {
		x.Result.Out, x.conn.dialogue = whole, nil
		var refused *mongoerr.Error
		if errors.As(err, &refused) {
			return nil
		}
		return err
	}
	x.Result.Out = wire.EndDocument(x.Result.Out, at)
	return nil
}

func speculateOn(x *exec, doc []byte, db string) error {
	if query.Lookup(doc, "authenticate").Missing() {
		return saslStart(x, doc, db)
	}
	subject, err := certified(x, doc, db)
	if err == nil {
		x.Result.Out = wire.AppendString(wire.AppendString(x.Result.Out, "dbname", account.External), "user", subject)
	}
	return err
}

// appendMechanisms answers a hello's question which mechanisms a user ("db.name") has.
func appendMechanisms(x *exec, e *wire.Element) error {
	db, name, ok := strings.Cut(string(e.Text()), ".")
	if !ok {
		return mongoerr.Errorf(mongoerr.BadValue, "UserName must contain a '.' separated database.user pair")
	}
	if a := x.conn.deployment.cluster.User(db, name); a != nil {
		x.Result.Out = wire.AppendStrings(x.Result.Out, "saslSupportedMechs", a.Mechanisms())
	}
	return nil
}
