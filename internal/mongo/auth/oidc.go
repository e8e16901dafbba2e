package auth

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// TokenSource returns an access token. It is called for one login at a time. Its context ends after a minute, or after five if it asks
// a person.
type TokenSource func(context.Context, TokenRequest) (Token, error)

// TokenRequest is what a source may need. It is empty if no person is asked.
type TokenRequest struct {
	Provider *IdentityProvider // as the server names it
	Refresh  *string           // the refresh token of the last token, nil if there is none
}

// IdentityProvider says where a person gets a token.
type IdentityProvider struct {
	Issuer        string
	ClientID      string
	RequestScopes []string
}

// Token is an access token. Refresh helps to get the next one; nil if there is none.
type Token struct {
	Access  string
	Refresh *string
}

// The time limits of a source. Source: Driver Authentication, "OIDC Callback" and "OIDC Human Callback".
const (
	machineTime = time.Minute
	personTime  = 5 * time.Minute
)

// oidc is MONGODB-OIDC: an access token of an identity provider says who the user is. Source: Driver Authentication, "MONGODB-OIDC".
type oidc struct {
	username string
	source   TokenSource
	people   bool
	allowed  []*regexp.Regexp
	tokens   *tokenCache
}

func newOIDC(c Credential) *oidc {
	o := &oidc{username: c.Username, source: c.Tokens, people: c.People, tokens: newTokenCache()}
	for _, host := range c.AllowedHosts {
		o.allowed = append(o.allowed, hostPattern(host))
	}
	if c.People {
		o.source = func(ctx context.Context, r TokenRequest) (Token, error) {
			if r.Provider == nil {
				return Token{}, errNoProvider
			}
			return c.Tokens(ctx, r)
		}
	}
	return o
}

// errNoProvider means that the server must be asked for the identity provider.
var errNoProvider = errors.New("the identity provider is not known")

func (o *oidc) Name() string { return OIDC }

// Speculate uses the token that is kept, if there is one: nobody is asked for one during hello.
func (o *oidc) Speculate(host string) Conversation {
	if kept := o.tokens.current(); kept != "" {
		return o.converse(&oidcExchange{oidc: o, host: host, given: kept})
	}
	return nil
}

func (o *oidc) Begin(host string) Conversation { return o.converse(&oidcExchange{oidc: o, host: host}) }

func (o *oidc) converse(e *oidcExchange) Conversation {
	return &oidcConversation{saslConversation{exchange: e, mechanism: OIDC}, e}
}

type oidcConversation struct {
	saslConversation
	own *oidcExchange
}

// refused forgets what the conversation has used. Only a token that was kept can be replaced by a better one.
func (c *oidcConversation) refused(code int32) bool {
	e := c.own
	if e.used == "" || code != authenticationFailed && code != reauthenticationRequired {
		return false
	}
	e.tokens.forget(e.used, e.refreshed)
	return e.kept || e.refreshed
}

// expired forgets the token. A refresh token is there for this.
func (c *oidcConversation) expired() { c.own.tokens.forget(c.own.used, false) }

// oidcExchange is one conversation: the token alone or, if a person must be asked and nobody knows where, the name of the user first,
// which the server answers with the identity provider.
type oidcExchange struct {
	*oidc
	host      string
	given     string // the token to send, empty if it must be got
	used      string // the token that was sent
	kept      bool   // it is one of an earlier login
	refreshed bool   // it was got with a refresh token
}

func (e *oidcExchange) complete() bool { return e.used != "" }

func (e *oidcExchange) start(ctx context.Context) ([]byte, error) {
	if err := e.checkHost(); err != nil {
		return nil, err
	}
	if e.given != "" {
		return e.message(gotToken{access: e.given, kept: true}), nil
	}
	if e.people && e.tokens.needsProvider() {
		return e.principal(), nil
	}
	message, err := e.token(ctx, nil)
	var refresh *refreshError
	// The token was forgotten at this moment, or could not be refreshed: a new conversation needs neither.
	if errors.Is(err, errNoProvider) || errors.As(err, &refresh) && ctx.Err() == nil {
		return e.principal(), nil
	}
	return message, err
}

// principal returns the message with the name of the user.
func (e *oidcExchange) principal() []byte {
	at, doc := wire.BeginDocument(nil)
	if e.username != "" {
		doc = wire.AppendString(doc, "n", e.username)
	}
	return wire.EndDocument(doc, at)
}

// next reads the identity provider.
func (e *oidcExchange) next(ctx context.Context, payload []byte) ([]byte, error) {
	var info struct {
		Issuer        string   `bson:"issuer"`
		ClientID      string   `bson:"clientId"`
		RequestScopes []string `bson:"requestScopes"`
	}
	if err := bson.Unmarshal(payload, &info); err != nil {
		return nil, fmt.Errorf("%w: the server's identity provider: %w", wire.ErrMalformed, err)
	}
	provider := IdentityProvider(info)
	return e.token(ctx, &provider)
}

// token returns the message with the access token.
func (e *oidcExchange) token(ctx context.Context, provider *IdentityProvider) ([]byte, error) {
	limit := machineTime
	if e.people {
		limit = personTime
	}
	got, err := e.tokens.get(ctx, limit, provider, e.source)
	if err != nil {
		return nil, err
	}
	return e.message(got), nil
}

// message returns the message with a token.
func (e *oidcExchange) message(got gotToken) []byte {
	e.used, e.kept, e.refreshed = got.access, got.kept, got.refreshed
	at, doc := wire.BeginDocument(nil)
	return wire.EndDocument(wire.AppendString(doc, "jwt", e.used), at)
}

var errNoToken = errors.New("the OIDC callback has returned no access token")

// checkHost protects a person from a server that would ask for a token and use it elsewhere.
func (e *oidcExchange) checkHost() error {
	if !e.people {
		return nil
	}
	for _, allowed := range e.allowed {
		if allowed.MatchString(e.host) {
			return nil
		}
	}
	return fmt.Errorf("the host %s is not one of ALLOWED_HOSTS, so no token is asked for and none is sent", e.host)
}

// hostPattern returns an expression for a host in which "*" stands for any characters.
func hostPattern(host string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(strings.Trim(strings.TrimSpace(host), "[]"))
	return regexp.MustCompile("(?i)^" + strings.ReplaceAll(quoted, `\*`, ".*") + "$")
}
