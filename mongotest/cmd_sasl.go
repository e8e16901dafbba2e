package mongotest

import (
	"errors"
	"strings"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://github.com/mongodb/specifications/blob/master/source/auth/auth.md

// dialogue is an authentication under way on a connection.
type dialogue struct {
	scram     *scram.ServerConversation
	db        string
	skipEmpty bool // the client does not want the empty exchange at the end
	proved    bool // only that exchange is left
}

var errAuthentication = mongoerr.Errorf(mongoerr.AuthenticationFailed, "Authentication failed.")

func cmdSaslStart(x *exec) error {
	if mechanism := query.Lookup(x.Command.Raw, "mechanism"); string(mechanism.Text()) == account.Plain && x.conn.deployment.cluster.EnablesPlain() {
		return loginPlain(x)
	}
	d, payload, err := saslStart(x, x.Command.Raw, x.Command.DB)
	if err != nil {
		return err
	}
	return saslStep(x, d, payload)
}

// saslStart reads a saslStart, of its own or within a hello.
func saslStart(x *exec, doc []byte, db string) (*dialogue, string, error) {
	mechanism, payload, opts := query.Lookup(doc, "mechanism"), query.Lookup(doc, "payload"), query.Lookup(doc, "options")
	if payload.Type != bson.TypeBinary {
		return nil, "", mongoerr.Errorf(mongoerr.MissingField, "BSON field 'saslStart.payload' is missing but a required field")
	}
	d := &dialogue{db: db}
	if opts.IsDocument() {
		d.skipEmpty = query.Lookup(opts.Data, "skipEmptyExchange").True()
	}
	var generator scram.HashGeneratorFcn
	name := string(mechanism.Text())
	switch name {
	case account.SCRAMSHA1:
		generator = scram.SHA1
	case account.SCRAMSHA256:
		generator = scram.SHA256
	default:
		return nil, "", mongoerr.Errorf(mongoerr.MechanismUnavailable,
			"Received authentication for mechanism %s which is unknown or not enabled", name)
	}
	server, err := generator.NewServer(func(user string) (scram.StoredCredentials, error) {
		if a := x.conn.deployment.cluster.User(db, user); a != nil {
			if c, ok := a.Scram[name]; ok {
				return c, nil
			}
		}
		return scram.StoredCredentials{}, errAuthentication
	})
	if err != nil {
		return nil, "", err
	}
	d.scram = server.NewConversation()
	return d, string(binaryData(payload)), nil
}

// loginPlain is PLAIN (RFC 4616): one message with the name and the password. The identity to act as, before them, must be empty or
// the same name.
func loginPlain(x *exec) error {
	parts := strings.Split(string(binaryData(query.Lookup(x.Command.Raw, "payload"))), "\x00")
	if len(parts) != 3 || parts[0] != "" && parts[0] != parts[1] {
		return errAuthentication
	}
	a := x.conn.deployment.cluster.User(x.Command.DB, parts[1])
	if a == nil || !a.AcceptsPlain(parts[2]) {
		return errAuthentication
	}
	x.conn.login(x.Command.DB, parts[1])
	appendSasl(x, true, "")
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
	payload := query.Lookup(x.Command.Raw, "payload")
	conversation := query.Lookup(x.Command.Raw, "conversationId")
	if id, ok := conversation.Integer(); !ok || id != 1 {
		return mongoerr.Errorf(mongoerr.ProtocolError, "sasl: Mismatched conversation id")
	}
	if d.proved {
		x.conn.dialogue = nil
		appendSasl(x, true, "")
		return nil
	}
	return saslStep(x, d, string(binaryData(payload)))
}

// saslStep takes the next step and writes its answer.
func saslStep(x *exec, d *dialogue, payload string) error {
	x.conn.dialogue = nil
	answer, err := d.scram.Step(payload)
	if err != nil || d.scram.Done() && !d.scram.Valid() {
		return errAuthentication
	}
	if !d.scram.Done() {
		x.conn.dialogue = d
		appendSasl(x, false, answer)
		return nil
	}
	x.conn.login(d.db, d.scram.Username())
	if !d.skipEmpty {
		d.proved, x.conn.dialogue = true, d
	}
	appendSasl(x, d.skipEmpty, answer)
	return nil
}

func appendSasl(x *exec, done bool, payload string) {
	dst := wire.AppendInt32(x.Result.Out, "conversationId", 1)
	dst = wire.AppendBool(dst, "done", done)
	x.Result.Out = wire.AppendBinary(dst, "payload", 0, []byte(payload))
}

// login notes who the connection's client is.
func (c *conn) login(db, name string) { c.User = c.deployment.cluster.User(db, name) }

// https://www.mongodb.com/docs/manual/reference/command/logout/

func cmdLogout(x *exec) error {
	x.conn.User = nil
	return nil
}

// cmdAuthenticate is MONGODB-X509: the certificate of the connection's other end proves who it is.
func cmdAuthenticate(x *exec) error {
	if mechanism := query.Lookup(x.Command.Raw, "mechanism"); string(mechanism.Text()) != account.X509 {
		return mongoerr.Errorf(mongoerr.BadValue, "Auth mechanism %s is not supported by the authenticate command", mechanism.Text())
	}
	subject, err := certified(x, x.Command.Raw, x.Command.DB)
	if err != nil {
		return err
	}
	dst := wire.AppendString(x.Result.Out, "dbname", account.External)
	x.Result.Out = wire.AppendString(dst, "user", subject)
	return nil
}

// certified logs in by the certificate, and returns its subject.
func certified(x *exec, doc []byte, db string) (string, error) {
	subject := x.conn.subject()
	name := query.Lookup(doc, "user")
	switch {
	case db != account.External:
		return "", mongoerr.Errorf(mongoerr.BadValue, "X.509 authentication must always use the $external database.")
	case subject == "":
		return "", errAuthentication
	case name.Type == bson.TypeString && string(name.Text()) != subject:
		return "", errAuthentication
	}
	x.conn.login(account.External, subject)
	if x.conn.User == nil {
		return "", mongoerr.Errorf(mongoerr.UserNotFound, "Could not find user %q for db %q", subject, account.External)
	}
	return subject, nil
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
		d, payload, err := saslStart(x, doc, db)
		if err != nil {
			return err
		}
		return saslStep(x, d, payload)
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
