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

// Begin returns the login of one connection.
func (a *Authenticator) Begin() *Login { return &Login{authenticator: a} }

// Login is the login of one connection. It is not safe for concurrent use.
type Login struct {
	authenticator *Authenticator
	speculative   Conversation // begun with hello; nil if there is none
}

// User returns the value of saslSupportedMechs in hello, empty if the mechanism is given.
func (l *Login) User() string { return l.authenticator.user }

// Speculative returns the document of speculativeAuthenticate in hello, nil if it must not be sent.
func (l *Login) Speculative(ctx context.Context) ([]byte, error) {
	m := l.authenticator.first
	if !m.Speculates() {
		return nil, nil
	}
	conversation := m.Begin()
	command, err := conversation.Start(ctx)
	if err != nil {
		return nil, &Error{Mechanism: m.Name(), Err: err}
	}
	l.speculative = conversation
	at, doc := wire.BeginDocument(nil)
	doc = append(doc, command...)
	return wire.EndDocument(wire.AppendString(doc, "db", l.authenticator.source), at), nil
}

// RoundTrip sends a command to a database and returns the reply, which says "ok: 1".
type RoundTrip func(ctx context.Context, database string, command []byte) ([]byte, error)

// Finish logs in after hello. mechanisms is hello's saslSupportedMechs. reply is its speculativeAuthenticate, nil if there
// is none: then the login begins again, with commands of its own. Errors are *Error.
func (l *Login) Finish(ctx context.Context, mechanisms []string, reply []byte, send RoundTrip) error {
	m, conversation := l.authenticator.first, l.speculative
	var err error
	switch {
	case reply != nil && conversation == nil:
		err = errNotAsked
	case reply != nil:
		err = l.converse(ctx, conversation, reply, send)
	default:
		m = l.authenticator.choose(mechanisms)
		err = l.begin(ctx, m.Begin(), send)
	}
	if err != nil {
		return &Error{Mechanism: m.Name(), Err: err}
	}
	return nil
}

var errNotAsked = errors.New("hello has a speculativeAuthenticate that was not asked for")

// choose returns the mechanism for a server that lists these. Source: Driver Authentication, "Defaults".
func (a *Authenticator) choose(mechanisms []string) Mechanism {
	if a.fallback != nil && !slices.Contains(mechanisms, a.first.Name()) {
		return a.fallback
	}
	return a.first
}

func (l *Login) begin(ctx context.Context, conversation Conversation, send RoundTrip) error {
	command, err := conversation.Start(ctx)
	if err != nil {
		return err
	}
	reply, err := send(ctx, l.authenticator.source, command)
	if err != nil {
		return err
	}
	return l.converse(ctx, conversation, reply, send)
}

// converse continues a conversation from a reply to its end.
func (l *Login) converse(ctx context.Context, conversation Conversation, reply []byte, send RoundTrip) error {
	for {
		command, err := conversation.Next(ctx, reply)
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
