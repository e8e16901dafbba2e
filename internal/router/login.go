package router

import (
	"slices"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router/scramserver"
)

const (
	// maxBeforeLogin is the size in bytes of the largest message of a client that has not logged in: whoever can reach the router can send one.
	maxBeforeLogin = 16 << 10
	// loginLimit is how long a login may take: what is known of the password may be old after that.
	loginLimit = 10 * time.Second
	// conversationID is that of all logins. A connection has one at a time.
	conversationID = 1
)

// login is a login that has begun.
type login struct {
	*scramserver.Conversation
	user      id
	mechanism string
	verifier  scramserver.Verifier
	exists    bool
	began     time.Time
	skipEmpty bool     // the client does not want the empty exchange at the end
	proved    *account // only that exchange is left
}

// errLogin is the error of a login. It says nothing of the reason, which the client could be after.
var errLogin = &refusal{code: codeAuthenticationFailed, name: "AuthenticationFailed", text: "Authentication failed."}

// beforeLogin are the commands of clients that have not logged in.
var beforeLogin = []string{
	"hello", "isMaster", "ismaster", "saslStart", "saslContinue", "authenticate", "logout", "ping", "buildInfo", "buildinfo", "isdbgrid", "whatsmyuri",
	"getnonce", "connectionStatus",
}

// checkLogin refuses a command of a client that has not logged in.
func (c *client) checkLogin(q *command) *refusal {
	if c.router.accounts == nil || c.account != nil || slices.Contains(beforeLogin, q.Name) || q.old != nil && q.old.write { // an old write is refused anyway
		return nil
	}
	return &refusal{code: codeUnauthorized, name: "Unauthorized", text: "Command " + q.Name + " requires authentication"}
}

// limit returns the size of the largest message that the client may send.
func (c *client) limit() int {
	if c.router.accounts != nil && c.account == nil {
		return maxBeforeLogin
	}
	return maxMessageBytes
}

// saslStart begins a login.
func (c *client) saslStart(q *command) error {
	payload, refused := c.beginLogin(q.Body, q.Database)
	return c.answerLogin(q, payload, refused)
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
	if !ok || err != nil {
		return nil, errLogin
	}
	l := &login{user: id{db, name}, mechanism: mechanism, began: time.Now()}
	if c.account != nil && c.account.id != l.user {
		return nil, &refusal{code: codeProtocolError, name: "ProtocolError", text: "this connection is that of another user; end it, or log out first"}
	}
	options := field(body, "options")
	skip := field(options.Document(), "skipEmptyExchange")
	l.skipEmpty = skip.True()
	known, err := c.router.accounts.verifiers(c.ctx, l.user)
	if err != nil {
		c.router.cfg.Refused(c.conn.RemoteAddr(), "nobody knows whether "+l.user.String()+" may log in: "+err.Error())
		return nil, errLogin
	}
	switch l.verifier, l.exists = known[l.mechanism]; {
	case !l.exists && known != nil: // as at a member, whose hello says which mechanisms the user has
		return nil, errLogin
	case !l.exists:
		l.verifier = scramserver.Fake(c.router.secret, l.mechanism, db, name)
		l.verifier.Iterations = c.router.iterations.usual(l.mechanism, l.verifier.Iterations)
	default:
		c.router.iterations.note(l.mechanism, l.verifier.Iterations)
	}
	if l.Conversation, payload, err = scramserver.Begin(l.mechanism, first, l.verifier); err != nil {
		return nil, errLogin
	}
	c.login = l
	return payload, nil
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
	if err != nil || !l.exists {
		c.login = nil
		c.router.cfg.Refused(c.conn.RemoteAddr(), "the login of "+l.user.String()+" failed")
		return nil, errLogin
	}
	l.proved = c.router.accounts.proved(l.user, l.mechanism, &l.verifier, clientKey)
	if l.skipEmpty {
		c.loggedIn(l.proved)
	}
	return answer, nil
}

// loggedIn ends a login.
func (c *client) loggedIn(a *account) {
	c.account, c.login = a, nil
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
