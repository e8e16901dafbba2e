package kv

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// The times of [Conn.LogInAgain] while the queue of the connection is full (RFC 0048, "Reauthenticating a existing KV connection").
const (
	againPause   = 10 * time.Millisecond
	againPatient = time.Minute
)

// LogInAgain logs the connection in with the token that [Config.Login] has now, beside the requests that are in flight: OAUTHBEARER has one
// message, so it does not disturb them. It does nothing without a token, because the first of several messages would log the connection out.
// wait limits the question for the token, and the answer. The error is about the login: the caller closes the connection.
func (c *Conn) LogInAgain(ctx context.Context, wait time.Duration) error {
	if c.config.Login == nil {
		return nil
	}
	asking, asked := context.WithTimeout(ctx, wait)
	l, err := c.config.Login.forConnection(asking, c.address, c.config.TLS != nil)
	asked()
	if err != nil || l.credential.Token == "" {
		return nil //nolint:nilerr // the login of this connection still holds; that of the next one fails with this error
	}
	r := Request{Opcode: memd.OpSASLAuth, Key: []byte(OAuthBearer), Value: bearerMessage(l.credential.Token), Cancelled: ctx.Done()}
	var reply Reply
	for until := time.Now().Add(againPatient); ; {
		r.Deadline = time.Now().Add(wait)
		err = c.RoundTrip(&r, &reply)
		if !errors.Is(err, ErrQueueFull) || time.Now().After(until) {
			break
		}
		select {
		case <-time.After(againPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err == nil && reply.Status != memd.StatusSuccess {
		err = c.answerError(&reply.Packet, loginError(reply.Status))
	}
	return err
}
