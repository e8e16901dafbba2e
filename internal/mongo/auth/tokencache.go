package auth

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
	"github.com/holdfast-db/holdfast/internal/base/pause"
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

// get returns the token or, if there is none, a new one of the source, which has the time limit. One caller asks the source at a time; the
// others wait for its answer or for the end of their contexts. A provider is the one that the server has named in this conversation.
func (c *tokenCache) get(ctx context.Context, limit time.Duration, provider *IdentityProvider, source TokenSource) (gotToken, error) {
	if access := c.current(); access != "" {
		return gotToken{access: access, kept: true}, nil
	}
	select {
	case c.calls <- struct{}{}:
	case <-ctx.Done():
		return gotToken{}, context.Cause(ctx)
	}
	if access := c.current(); access != "" { // of the call for which this one has waited
		<-c.calls
		return gotToken{access: access, kept: true}, nil
	}
	if err := pause.For(ctx, c.pause()); err != nil {
		<-c.calls
		return gotToken{}, err
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return panicked.Apart(limited, "the OIDC callback", func(ctx context.Context) (gotToken, error) {
		defer func() { <-c.calls }() // when the source has returned, however late
		return c.ask(ctx, provider, source)
	})
}

// ask calls the source.
func (c *tokenCache) ask(ctx context.Context, provider *IdentityProvider, source TokenSource) (gotToken, error) {
	c.mu.Lock()
	request := TokenRequest{Provider: provider}
	if provider == nil { // a token that was refreshed needs no new question to the server
		request = TokenRequest{Provider: c.provider, Refresh: c.refresh}
	}
	c.mu.Unlock()
	defer c.hasCalled()
	token, err := source(ctx, request)
	if err == nil && token.Access == "" {
		err = errNoToken
	} else if err != nil {
		err = fmt.Errorf("the OIDC callback has failed: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil && request.Refresh != nil:
		c.refresh = nil
		return gotToken{}, &refreshError{err}
	case err != nil:
		return gotToken{}, err
	}
	c.access, c.refresh, c.provider = token.Access, token.Refresh, request.Provider
	return gotToken{access: token.Access, refreshed: request.Refresh != nil}, nil
}

// pause returns the time until the source may be called.
func (c *tokenCache) pause() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return betweenCalls - time.Since(c.called)
}

// hasCalled notes when a call of the source has ended, also by a panic.
func (c *tokenCache) hasCalled() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.called = time.Now()
}

// refreshError is the error of a source that was given a refresh token: without it there may be a token.
type refreshError struct{ err error }

func (e *refreshError) Error() string { return e.err.Error() }
func (e *refreshError) Unwrap() error { return e.err }

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
