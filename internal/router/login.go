package router

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router/scramserver"
)

const (
	// loginLimit is how long the client may take for its proof: what is known of the password may be old after that.
	loginLimit = 10 * time.Second
	// conversationID is that of all logins. A connection has one at a time.
	conversationID = 1
)

// login is a login that has begun.
type login struct {
	*scramserver.Conversation
	user      id
	mechanism string
	known     *known    // nil if the user does not exist or has not the mechanism
	lacks     bool      // it has not the mechanism, or would not if it existed
	began     time.Time // when its first message was answered
	skipEmpty bool      // the client does not want the empty exchange at the end
	proved    *account  // only that exchange is left
}

// errLogin is the error of a login. It says nothing of the reason, which the client could be after.
var errLogin = &refusal{code: codeAuthenticationFailed, name: "AuthenticationFailed", text: "Authentication failed."}

// The errors of logins that say nothing of the credential.
var (
	errNotAsked = &refusal{
		code: codeHostUnreachable, name: "HostUnreachable", text: "no member could be asked who may log in",
	}
	errTooManyLogins = &refusal{
		code: codeAdmissionQueueFull, name: "AdmissionQueueOverflow", text: errTooManyUsers.Error(),
		labels: []string{labelSystemOverloaded, labelRetryable, labelNoWritesPerformed},
	}
)

// beforeLogin are the commands of clients that have not logged in.
var beforeLogin = []string{
	"hello", "isMaster", "ismaster", "saslStart", "saslContinue", "authenticate", "logout", "ping", "buildInfo", "buildinfo", "isdbgrid", "whatsmyuri",
	"getnonce", "connectionStatus",
}

// checkLogin refuses a command of a client that has not logged in.
func (c *client) checkLogin(q *command) *refusal {
	if !c.isStranger() || slices.Contains(beforeLogin, q.Name) || q.old != nil && q.old.write { // an old write is refused anyway
		return nil
	}
	return &refusal{code: codeUnauthorized, name: "Unauthorized", text: "Command " + q.Name + " requires authentication"}
}

// saslStart begins a login. It ends when its client leaves.
func (c *client) saslStart(q *command) error {
	c.watcher.begin(time.Now())
	defer c.endWatch()
	payload, refused := c.beginLogin(q.Body, q.Database)
	return c.answerLogin(q, payload, c.tellWrongLogin(refused))
}

// beginLogin begins a login with a document of the command saslStart, or of the field speculativeAuthenticate.
func (c *client) beginLogin(body []byte, db string) (payload []byte, refused *refusal) {
	c.login = nil
	asked := field(body, "mechanism")
	mechanism := string(asked.Text())
	switch {
	case c.router.accounts == nil:
		return nil, errNoUsers
	case !slices.Contains(mechanisms, mechanism):
		return nil, &refusal{code: codeMechanismUnavailable, name: "MechanismUnavailable", text: "the router has no mechanism " + strconv.Quote(mechanism) +
			"; it has SCRAM-SHA-256 and SCRAM-SHA-1, and MONGODB-X509 by the command authenticate"}
	}
	first, ok := payloadOf(body)
	name, err := scramserver.UserOf(first)
	user, valid := userOf(db, name)
	if !ok || err != nil || !valid {
		return nil, errLogin
	}
	if c.account != nil && c.account.id != user {
		return nil, &refusal{code: codeProtocolError, name: "ProtocolError", text: "this connection is that of another user; end it, or log out first"}
	}
	options := field(body, "options")
	skip := field(options.Document(), "skipEmptyExchange")
	l := &login{user: user, mechanism: mechanism, skipEmpty: skip.True()}
	verifier, refused := c.verifierOf(l)
	if refused != nil {
		return nil, refused
	}
	if l.Conversation, payload, err = scramserver.Begin(mechanism, first, verifier); err != nil {
		return nil, errLogin
	}
	l.began = time.Now()
	c.login = l
	return payload, nil
}

// verifierOf returns what the password of a login is checked against. A user who does not exist, or has not the mechanism, gets a verifier that no
// password fits: the client learns no earlier that its login fails, and not why.
func (c *client) verifierOf(l *login) (scramserver.Verifier, *refusal) {
	secret, err := c.router.accounts.secret(c.ctx)
	if err != nil {
		return scramserver.Verifier{}, c.unknown(l.user, err)
	}
	about, err := c.router.accounts.about(c.ctx, l.user)
	if refused := c.unknown(l.user, err); refused != nil {
		return scramserver.Verifier{}, refused
	}
	v, has := scramserver.Verifier{}, false
	of := c.router.kinds.fake(secret, l.user)
	if about != nil {
		v, has = about.verifiers[l.mechanism]
		of = kindOf(about.verifiers)
	}
	l.lacks = of.iterations(l.mechanism) == 0
	if has {
		l.known = about
		return v, nil
	}
	v = scramserver.Fake(secret, l.mechanism, l.user.db, l.user.name)
	v.Iterations = cmp.Or(of.iterations(l.mechanism), v.Iterations)
	return v, nil
}

// unknown tells of an error of the question who a user is. It returns how the client is refused; nil if the login goes on, and fails at its end as any
// other: a refusal now could show which users there are.
func (c *client) unknown(user id, err error) *refusal {
	if err == nil {
		return nil
	}
	c.router.cfg.Refused(c.conn.RemoteAddr(), "nobody knows whether "+user.String()+" may log in: "+err.Error())
	switch {
	case isRefusal(err):
		return nil
	case errors.Is(err, errTooManyUsers):
		return errTooManyLogins
	}
	return errNotAsked
}

// saslContinue goes on with a login.
func (c *client) saslContinue(q *command) error {
	payload, refused := c.continueLogin(q.Body)
	return c.answerLogin(q, payload, refused)
}

func (c *client) continueLogin(body []byte) (payload []byte, refused *refusal) {
	l := c.login
	asked := field(body, "conversationId")
	payload, ok := payloadOf(body)
	number, _ := asked.Int64()
	switch {
	case l == nil:
		return nil, &refusal{code: codeProtocolError, name: "ProtocolError", text: "No SASL session state found"}
	case l.proved != nil && number == conversationID:
		c.loggedIn(l.proved)
		return nil, nil
	case !ok || number != conversationID || time.Since(l.began) > loginLimit:
		c.login = nil
		return nil, errLogin
	}
	answer, clientKey, err := l.Finish(payload)
	if err == nil && l.known != nil {
		l.proved = c.router.accounts.proved(l.user, l.mechanism, l.known, clientKey)
	}
	if l.proved == nil {
		c.login = nil
		c.router.cfg.Refused(c.conn.RemoteAddr(), "the login of "+l.user.String()+" failed")
		return nil, errLogin
	}
	if l.skipEmpty {
		c.loggedIn(l.proved)
	}
	return answer, nil
}

// loggedIn ends a login.
func (c *client) loggedIn(a *account) {
	c.account, c.login = a, nil
	c.madeNow()
}

// answerLogin answers saslStart or saslContinue. The login is complete if no other message of it may follow.
func (c *client) answerLogin(q *command, payload []byte, refused *refusal) error {
	if refused != nil {
		return c.refuse(q, refused)
	}
	return c.ok(q, appendSASL(nil, c.login == nil, payload))
}

func appendSASL(dst []byte, done bool, payload []byte) []byte {
	dst = wire.AppendInt32(dst, "conversationId", conversationID)
	dst = wire.AppendBool(dst, "done", done)
	return wire.AppendBinary(dst, "payload", bson.TypeBinaryGeneric, payload)
}

// payloadOf returns the message of a mechanism. Some drivers send it as a text in base64, which no member of today takes either.
func payloadOf(body []byte) ([]byte, bool) {
	e := field(body, "payload")
	_, payload, ok := bson.RawValue{Type: e.Type, Value: e.Value}.BinaryOK()
	return payload, ok
}

// logout ends the login of the connection.
func (c *client) logout(q *command) error {
	c.account, c.login = nil, nil
	return c.ok(q, nil)
}

// errNoUsers refuses logins at a router that has no users.
var errNoUsers = &refusal{code: codeAuthenticationFailed, name: "AuthenticationFailed", text: "this router has no users: connect without a credential"}
