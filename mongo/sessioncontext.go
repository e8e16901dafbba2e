package mongo

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
)

type sessionKey struct{}

// NewSessionContext returns a context with the session. Operations that get this context, or one made from it, run in the
// session. It replaces a session that parent has.
func NewSessionContext(parent context.Context, sess *Session) context.Context {
	return context.WithValue(orBackground(parent), sessionKey{}, sess)
}

// SessionFromContext returns the session of ctx, nil if it has none.
func SessionFromContext(ctx context.Context) *Session {
	if ctx == nil {
		return nil
	}
	s, _ := ctx.Value(sessionKey{}).(*Session)
	return s
}

// sessionOf returns the session in which an operation of the client with that context runs, nil for an implicit one.
func (c *Client) sessionOf(ctx context.Context) (*operation.Session, error) {
	s := SessionFromContext(ctx)
	switch {
	case s == nil:
		return nil, nil
	case s.client != c:
		return nil, ErrWrongClient
	default:
		return s.session, nil
	}
}

// WithSession calls fn with a context that has the session. The caller ends the session. It returns the error of fn.
func WithSession(ctx context.Context, sess *Session, fn func(context.Context) error) error {
	return fn(NewSessionContext(ctx, sess))
}

// UseSession calls fn with a context that has a new session, and ends the session afterwards. This aborts a transaction
// that fn has started and not ended, also if fn panics. UseSession returns the error of fn.
func (c *Client) UseSession(ctx context.Context, fn func(context.Context) error) error {
	return c.UseSessionWithOptions(ctx, options.Session(), fn)
}

// UseSessionWithOptions is UseSession for a session with options.
func (c *Client) UseSessionWithOptions(
	ctx context.Context, opts *options.SessionOptionsBuilder, fn func(context.Context) error,
) error {
	s, err := c.StartSession(opts)
	if err != nil {
		return err
	}
	defer s.EndSession(ctx)
	return fn(NewSessionContext(ctx, s))
}
