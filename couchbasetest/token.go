package couchbasetest

import (
	"errors"
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/httpapi"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// oauthBearer is the mechanism of a login with a token (RFC 7628).
const oauthBearer = "OAUTHBEARER"

// Tokens names the JSON web tokens with which a client logs in as the administrator: by OAUTHBEARER on key-value connections, and as
// Bearer at the HTTP services, on TLS connections only. The nodes compare them as texts and read nothing in them, so any bearer token will
// do. It needs the option TLS. [Cluster.SetTokens] lets tokens expire.
func Tokens(tokens ...string) Option {
	return func(c *config) { c.tokens, c.withTokens = slices.Clone(tokens), true }
}

// SetTokens replaces the tokens of the option [Tokens], which must have been given. A token that is not among them any more has expired: it is
// refused, and a connection that logged in with it answers each request with "authentication is stale" (1f) until it logs in again. It
// returns an error about a token that no client can send; then nothing has changed.
func (c *Cluster) SetTokens(tokens ...string) error {
	if !c.withTokens {
		return errors.New("couchbasetest: SetTokens needs the option Tokens")
	}
	if slices.Contains(tokens, "") {
		return errEmptyToken
	}
	c.set(func() { c.tokens = slices.Clone(tokens) })
	return nil
}

var errEmptyToken = errors.New("couchbasetest: Tokens: one of the tokens is empty")

// checkTokens returns an error if the tokens cannot be used.
func (c *config) checkTokens() error {
	switch {
	case !c.withTokens:
		return nil
	case !c.withTLS:
		return errors.New("couchbasetest: Tokens needs TLS: nodes take a token on TLS connections only")
	case slices.Contains(c.tokens, ""):
		return errEmptyToken
	}
	return nil
}

// takesTokens reports whether a client may log in with a token on the connection.
func (c *conn) takesTokens() bool { return c.gated != nil && c.cluster.withTokens }

// bearer reads a token. The mutex is held.
func (x *exec) bearer() *Reply {
	token, ok := bearerToken(string(x.p.Value))
	switch {
	case !ok:
		return refusal(memd.StatusInvalidArguments)
	case !slices.Contains(x.cluster.tokens, token):
		return refusal(memd.StatusAuthError)
	}
	x.conn.user, x.conn.token = x.cluster.username, token
	return &Reply{}
}

// bearerToken returns the token of the client's message: a header of GS2, and pairs that each end with a byte 1 (RFC 7628, section 3.1).
func bearerToken(message string) (token string, ok bool) {
	header, pairs, found := strings.Cut(message, "\x01")
	pairs, ended := strings.CutSuffix(pairs, "\x01\x01")
	if !found || !ended || !strings.HasPrefix(header, "n,") || !strings.HasSuffix(header, ",") {
		return "", false
	}
	for pair := range strings.SplitSeq(pairs, "\x01") {
		scheme, value, _ := strings.Cut(strings.TrimPrefix(pair, "auth="), " ")
		if strings.HasPrefix(pair, "auth=") && strings.EqualFold(scheme, "Bearer") {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// staleLocked reports whether the token with which the client logged in has expired. The mutex is held.
func (c *conn) staleLocked() bool {
	return c.token != "" && !slices.Contains(c.cluster.tokens, c.token)
}

// knownToken checks the token of a request to an HTTP service.
func (m management) knownToken(c *httpapi.Credential) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return c.Secure && slices.Contains(m.tokens, c.Token)
}
