package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Authenticator logs connections in with one credential. It is safe for concurrent use.
type Authenticator struct {
	source   string
	user     string    // "database.name" if the server's hello decides the mechanism, else empty
	first    Mechanism // the mechanism, or the one that is tried with hello
	fallback Mechanism // SCRAM-SHA-1 for servers that do not list SCRAM-SHA-256; nil if the mechanism is given
}

// New returns the Authenticator of a credential. It returns an error for one that its mechanism cannot use.
func New(c Credential) (*Authenticator, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	a := &Authenticator{source: c.Source}
	var err error
	switch c.Mechanism {
	case X509:
		a.first = x509{}
	case Plain:
		a.first = &plain{c}
	case AWS:
		a.first = &aws{c.AWS}
	case OIDC:
		a.first = newOIDC(c)
	case "":
		a.user = c.Source + "." + c.Username
		if a.fallback, err = newSCRAM(SCRAMSHA1, c); err != nil {
			return nil, err
		}
		a.first, err = newSCRAM(SCRAMSHA256, c)
	default:
		a.first, err = newSCRAM(c.Mechanism, c)
	}
	return a, err
}

// String returns the mechanism and the source.
func (a *Authenticator) String() string {
	return fmt.Sprintf("authenticator (mechanism %s, source %q)", a.first.Name(), a.source)
}

// GoString returns the same as String: the fields have secrets.
func (a *Authenticator) GoString() string { return a.String() }

// Format prints the same as String for every verb.
func (a *Authenticator) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, a.String()) }

// AsksOthers reports whether a login may ask somebody outside the client for a secret, for example a person who has to type it. The
// time limit of connecting must not limit that: the mechanism has a limit of its own.
func (a *Authenticator) AsksOthers() bool {
	_, asks := a.first.(*oidc)
	return asks
}

// Begin returns the login of a connection to a host (a name, an IP address, or a path).
func (a *Authenticator) Begin(host string) *Login {
	return &Login{authenticator: a, host: host, mechanism: a.first}
}

// Login is the login of one connection. It is not safe for concurrent use.
type Login struct {
	authenticator *Authenticator
	host          string
	mechanism     Mechanism
	conversation  Conversation // the last one, if another login may need it
}

// User returns the value of saslSupportedMechs in hello, empty if the mechanism is given.
func (l *Login) User() string { return l.authenticator.user }

// Speculative returns the document of speculativeAuthenticate in hello, nil if it must not be sent.
func (l *Login) Speculative(ctx context.Context) ([]byte, error) {
	conversation := l.mechanism.Speculate(l.host)
	if conversation == nil {
		return nil, nil
	}
	command, err := conversation.Start(ctx)
	if err != nil {
		return nil, &Error{Mechanism: l.mechanism.Name(), Err: err}
	}
	l.conversation = conversation
	at, doc := wire.BeginDocument(nil)
	doc = append(doc, command...)
	return wire.EndDocument(wire.AppendString(doc, "db", l.authenticator.source), at), nil
}

// RoundTrip sends a command to a database and returns the reply, which says "ok: 1". The error of another reply has a method
// ErrorCode() int32.
type RoundTrip func(ctx context.Context, database string, command []byte) ([]byte, error)

// Finish logs in after hello. mechanisms is hello's saslSupportedMechs. reply is its speculativeAuthenticate, nil if there
// is none: then the login begins again, with commands of its own. Errors are *Error.
func (l *Login) Finish(ctx context.Context, mechanisms []string, reply []byte, send RoundTrip) error {
	var err error
	switch {
	case reply != nil && l.conversation == nil:
		err = errNotAsked
	case reply != nil:
		err = l.converse(ctx, reply, send)
	default:
		l.mechanism = l.authenticator.choose(mechanisms)
		err = l.converseAnew(ctx, send)
	}
	return l.ended(err)
}

// Again logs a connection in again whose login has expired (ReauthenticationRequired). Errors are *Error. Source: Driver
// Authentication, "Reauthentication".
func (l *Login) Again(ctx context.Context, send RoundTrip) error {
	if b, borrows := l.conversation.(borrower); borrows {
		b.expired()
	}
	return l.ended(l.converseAnew(ctx, send))
}

// ended drops the conversation if nothing of it is needed later, and returns the error with the name of the mechanism.
func (l *Login) ended(err error) error {
	if _, borrows := l.conversation.(borrower); !borrows {
		l.conversation = nil
	}
	if err == nil {
		return nil
	}
	return &Error{Mechanism: l.mechanism.Name(), Err: err}
}

var errNotAsked = errors.New("hello has a speculativeAuthenticate that was not asked for")

// choose returns the mechanism for a server that lists these. Source: Driver Authentication, "Defaults".
func (a *Authenticator) choose(mechanisms []string) Mechanism {
	if a.fallback != nil && !slices.Contains(mechanisms, a.first.Name()) {
		return a.fallback
	}
	return a.first
}

// The codes of replies that say something about a secret.
const (
	authenticationFailed     = 18
	reauthenticationRequired = 391
)

// maxConversations limits the conversations of one login. The most that a mechanism needs are three: with a token that is kept, with a
// token for which a refresh token was given, and with a new one.
const maxConversations = 3

// converseAnew has whole conversations, until one succeeds or the mechanism has no better secret.
func (l *Login) converseAnew(ctx context.Context, send RoundTrip) error {
	for n := 1; ; n++ {
		l.conversation = l.mechanism.Begin(l.host)
		err := l.begin(ctx, send)
		if err == nil || !l.refused(codeOf(err)) || n == maxConversations {
			return err
		}
	}
}

// refused tells the conversation that its secret was refused, and reports whether there may be a better one.
func (l *Login) refused(code int32) bool {
	b, borrows := l.conversation.(borrower)
	return borrows && b.refused(code)
}

// codeOf returns the code of the server's reply, 0 if the error is not one of the server.
func codeOf(err error) int32 {
	var reply interface{ ErrorCode() int32 }
	if errors.As(err, &reply) {
		return reply.ErrorCode()
	}
	return 0
}

func (l *Login) begin(ctx context.Context, send RoundTrip) error {
	command, err := l.conversation.Start(ctx)
	if err != nil {
		return err
	}
	reply, err := send(ctx, l.authenticator.source, command)
	if err != nil {
		return err
	}
	return l.converse(ctx, reply, send)
}

// converse continues the conversation from a reply to its end.
func (l *Login) converse(ctx context.Context, reply []byte, send RoundTrip) error {
	for {
		command, err := l.conversation.Next(ctx, reply)
		if err != nil || command == nil {
			return err
		}
		if reply, err = send(ctx, l.authenticator.source, command); err != nil {
			return err
		}
	}
}

// Error is a login that failed. It has no secret.
type Error struct {
	Mechanism string
	Err       error
}

// Error returns the mechanism and the cause.
func (e *Error) Error() string {
	return fmt.Sprintf("auth error: unable to authenticate using mechanism %q: %v", e.Mechanism, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
