package kv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/xdg-go/scram"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
	"github.com/holdfast-db/holdfast/internal/base/scramclient"
)

// The mechanisms of a login.
const (
	ScramSHA512 = "SCRAM-SHA512"
	ScramSHA256 = "SCRAM-SHA256"
	ScramSHA1   = "SCRAM-SHA1"
	Plain       = "PLAIN"
	OAuthBearer = "OAUTHBEARER"
)

// Credential says who logs in, and how. It is never printed with its secrets.
type Credential struct {
	Username string
	Password string
	// Token is a JSON web token. With it the name and the password are not used, and the login is by OAUTHBEARER, which needs TLS.
	Token string
	// Mechanisms are those that may be used, the most wanted first; those that are not for such a credential are left out. Empty means
	// PLAIN over TLS, and the SCRAM mechanisms without it, the strongest first.
	Mechanisms []string
	// AllowPlain permits PLAIN, which shows the password to the network, without TLS.
	AllowPlain bool
}

// String returns a text without secrets.
func (c Credential) String() string { return "credential" }

// GoString returns the same as String.
func (c Credential) GoString() string { return c.String() }

// Format prints the same as String for every verb.
func (c Credential) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, c.String()) }

// Login logs connections in with a credential. It keeps the keys of SCRAM, which cost thousands of iterations. It is safe for
// concurrent use.
type Login struct {
	credential Credential
	scram      map[string]*scramclient.Mechanism
	ask        AskCredential // nil: the credential never changes

	mu     sync.Mutex
	latest *Login // with the credential of the latest connection, if it was asked for
}

// AskCredential returns the credential for a connection to an address. It must be safe for concurrent use, and return when the context
// ends. A panic of it becomes an error.
type AskCredential func(ctx context.Context, address string) (Credential, error)

// NewLogin returns the login of a credential. The error names the field and the rule that it breaks.
func NewLogin(c Credential) (*Login, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c.Mechanisms = slices.Clone(c.Mechanisms)
	l := &Login{credential: c, scram: make(map[string]*scramclient.Mechanism)}
	if c.Token != "" {
		return l, nil
	}
	for name, hash := range scramHashes {
		m, err := scramclient.New(func() (*scram.Client, error) { return hash.NewClientUnprepped(c.Username, c.Password, "") })
		if err != nil {
			return nil, errors.New("kv: Username or Password cannot be used for SCRAM")
		}
		l.scram[name] = m
	}
	return l, nil
}

// AskedBy returns a login that asks for the credential of each connection. The keys of l are kept while the answer is the credential of l.
func (l *Login) AskedBy(ask AskCredential) *Login {
	return &Login{credential: l.credential, scram: l.scram, ask: ask, latest: l}
}

// forConnection returns the login of a connection to an address, with or without TLS. The error matches [ErrBadCredentials].
func (l *Login) forConnection(ctx context.Context, address string, secure bool) (*Login, error) {
	if l.ask == nil {
		return l, nil
	}
	c, err := l.askFor(ctx, address)
	if err != nil {
		return nil, &noCredential{err}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.equal(&l.latest.credential) {
		return l.latest, nil
	}
	changed, err := NewLogin(c)
	if err == nil {
		err = changed.Check(secure)
	}
	if err != nil {
		return nil, &noCredential{err}
	}
	l.latest = changed
	return changed, nil
}

func (l *Login) askFor(ctx context.Context, address string) (c Credential, err error) {
	defer panicked.Recovered("the function that returns the credential", &err)
	return l.ask(ctx, address)
}

// noCredential is the error of a connection for which there is no credential.
type noCredential struct{ err error }

func (e *noCredential) Error() string { return "there is no credential: " + e.err.Error() }

func (e *noCredential) Unwrap() []error { return []error{ErrBadCredentials, e.err} }

// String returns a text without secrets.
func (l *Login) String() string { return "login" }

// GoString returns the same as String.
func (l *Login) GoString() string { return l.String() }

// Format prints the same as String for every verb.
func (l *Login) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, l.String()) }

// Check returns an error if the login has no mechanism for a connection with or without TLS.
func (l *Login) Check(secure bool) error {
	switch {
	case len(l.mechanisms(secure)) > 0:
		return nil
	case l.credential.Token != "":
		return errors.New("kv: Token needs TLS: without it the token itself would be sent in the clear")
	}
	return errors.New("kv: Mechanisms has only PLAIN, which needs TLS or AllowPlain")
}

// mechanisms returns the mechanisms for a connection with or without TLS, the most wanted first.
func (l *Login) mechanisms(secure bool) []string {
	c := &l.credential
	switch {
	case c.Token != "" && secure:
		return []string{OAuthBearer}
	case c.Token != "":
		return nil
	case len(c.Mechanisms) == 0 && secure:
		return []string{Plain}
	case len(c.Mechanisms) == 0:
		return []string{ScramSHA512, ScramSHA256, ScramSHA1}
	}
	return slices.DeleteFunc(slices.Clone(c.Mechanisms), func(name string) bool {
		return name == OAuthBearer || name == Plain && !secure && !c.AllowPlain
	})
}

// next returns the first mechanism that the server has, after a refusal of the one that was tried. It reports false if there is none,
// or if the server has the one that was tried: then it was the password.
func (l *Login) next(tried string, secure bool, listed []string) (string, bool) {
	if slices.Contains(listed, tried) {
		return "", false
	}
	for _, name := range l.mechanisms(secure) {
		if name != tried && slices.Contains(listed, name) {
			return name, true
		}
	}
	return "", false
}

// conversation is one login on one connection, as seen by the client.
type conversation struct {
	name  string
	scram *scramclient.Conversation // nil for PLAIN and OAUTHBEARER, which have one message
}

// begin returns a conversation and its first message.
func (l *Login) begin(name string) (*conversation, []byte, error) {
	switch name {
	case Plain:
		return &conversation{name: name}, []byte("\x00" + l.credential.Username + "\x00" + l.credential.Password), nil
	case OAuthBearer:
		return &conversation{name: name}, bearerMessage(l.credential.Token), nil
	}
	c := &conversation{name: name, scram: l.scram[name].Begin()}
	first, err := c.scram.Start()
	return c, first, err
}

// answer reads the server's first message and returns the client's second.
func (c *conversation) answer(payload []byte) ([]byte, error) {
	if c.scram == nil {
		return nil, violation("it continues a login with %s, which has one message", c.name)
	}
	second, err := c.scram.Next(payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnprovedServer, err)
	}
	return second, nil
}

// finish reads the server's last message, of a login that it calls successful.
func (c *conversation) finish(payload []byte) error {
	if c.scram == nil {
		return nil
	}
	if _, err := c.scram.Next(payload); err != nil {
		return fmt.Errorf("%w: %w", ErrUnprovedServer, err)
	}
	if !c.scram.Complete() {
		return ErrUnprovedServer
	}
	return nil
}
