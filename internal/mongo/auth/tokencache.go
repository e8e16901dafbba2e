package auth

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// betweenCalls is the time between two calls of a token source. Source: Driver Authentication, "Credential Caching".
const betweenCalls = 100 * time.Millisecond

// tokenCache has the access token of all connections of a client. It is safe for concurrent use.
type tokenCache struct {
	calls chan struct{} // has a value while the source is called

	mu       sync.Mutex
	access   string            // empty: none
	refresh  *string           // nil: none
	provider *IdentityProvider // nil: unknown
	called   time.Time         // when the last call of the source has ended
}

func newTokenCache() *tokenCache { return &tokenCache{calls: make(chan struct{}, 1)} }

// gotToken is a token for one conversation. kept means that it is one of an earlier login, refreshed that a refresh token was used.
type gotToken struct {
	access          string
	kept, refreshed bool
}

// current returns the token, empty if there is none.
func (c *tokenCache) current() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.access
}

// needsProvider reports whether a person must be asked and nobody knows yet where.
func (c *tokenCache) needsProvider() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.access == "" && (c.refresh == nil || c.provider == nil)
}

// get returns the token or, if there is none, a new one of the source. One caller asks the source at a time; the others wait for its
// answer or for the end of their contexts. A provider is the one that the server has named in this conversation.
func (c *tokenCache) get(ctx context.Context, provider *IdentityProvider, source TokenSource) (gotToken, error) {
	if access := c.current(); access != "" {
		return gotToken{access: access, kept: true}, nil
	}
	select {
	case c.calls <- struct{}{}:
		defer func() { <-c.calls }()
	case <-ctx.Done():
		return gotToken{}, context.Cause(ctx)
	}
	if access := c.current(); access != "" { // of the call for which this one has waited
		return gotToken{access: access, kept: true}, nil
	}
	return c.ask(ctx, provider, source)
}

// ask calls the source.
func (c *tokenCache) ask(ctx context.Context, provider *IdentityProvider, source TokenSource) (gotToken, error) {
	c.mu.Lock()
	request, wait := TokenRequest{Provider: provider}, betweenCalls-time.Since(c.called)
	if provider == nil { // a token that was refreshed needs no new question to the server
		request = TokenRequest{Provider: c.provider, Refresh: c.refresh}
	}
	c.mu.Unlock()
	if err := sleep(ctx, wait); err != nil {
		return gotToken{}, err
	}
	token, err := source(ctx, request)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.called = time.Now()
	switch {
	case err != nil:
		return gotToken{}, fmt.Errorf("the OIDC callback has failed: %w", err)
	case token.Access == "":
		return gotToken{}, errNoToken
	}
	c.access, c.refresh, c.provider = token.Access, token.Refresh, request.Provider
	return gotToken{access: token.Access, refreshed: request.Refresh != nil}, nil
}

// forget removes a token that the server has refused, if it is still there, and the refresh token if that is of no use either.
func (c *tokenCache) forget(access string, refresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.access != access {
		return
	}
	c.access = ""
	if refresh {
		c.refresh = nil
	}
}

// sleep waits, or returns the cause of the context's end.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
