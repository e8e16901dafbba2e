package auth

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// exchange is a SASL mechanism: a conversation of payloads, which saslStart and saslContinue carry.
type exchange interface {
	start(ctx context.Context) ([]byte, error)
	next(ctx context.Context, payload []byte) ([]byte, error)
	// complete reports whether the server has shown all that the mechanism demands of it.
	complete() bool
}

// saslConversation carries the payloads of an exchange. Source: Driver Authentication, "SASL".
type saslConversation struct {
	exchange
	mechanism string
	skipEmpty bool // ask the server to leave out the empty exchange at the end
	last      bool // the client has nothing more to send
}

// Start returns saslStart.
func (c *saslConversation) Start(ctx context.Context) ([]byte, error) {
	payload, err := c.start(ctx)
	if err != nil {
		return nil, err
	}
	b := wire.AppendInt32(nil, "saslStart", 1)
	b = wire.AppendString(b, "mechanism", c.mechanism)
	b = wire.AppendBinary(b, "payload", 0, payload)
	if c.skipEmpty {
		at, rest := wire.BeginEmbedded(b, "options")
		b = wire.EndDocument(wire.AppendBool(rest, "skipEmptyExchange", true), at)
	}
	return b, nil
}

// Next reads the reply to saslStart or saslContinue.
func (c *saslConversation) Next(ctx context.Context, reply []byte) ([]byte, error) {
	r, err := parseSASL(reply)
	if err != nil {
		return nil, err
	}
	var payload []byte
	if !c.complete() {
		if payload, err = c.next(ctx, r.payload); err != nil {
			return nil, err
		}
	}
	switch {
	case r.done && (!c.complete() || len(payload) > 0):
		return nil, errTooEarly
	case r.done:
		return nil, nil
	case c.last:
		return nil, errNoEnd
	}
	c.last = c.complete()
	b := wire.AppendInt32(nil, "saslContinue", 1)
	b = wire.AppendInt32(b, "conversationId", r.id)
	return wire.AppendBinary(b, "payload", 0, payload), nil
}

var (
	errTooEarly = errors.New("the server reports success before the conversation is complete")
	errNoEnd    = errors.New("the server does not end the conversation")
)

// saslReply is a reply to saslStart or saslContinue.
type saslReply struct {
	id      int32
	done    bool
	payload []byte // aliases the reply
}

func parseSASL(doc []byte) (saslReply, error) {
	var r saslReply
	var seen bool
	it := wire.Elements(doc)
	for it.Next() {
		ok := true
		switch string(it.Key) {
		case "conversationId":
			ok = it.Type == bson.TypeInt32
			id, _ := it.Int64()
			r.id = int32(id)
		case "done":
			ok = it.Type == bson.TypeBoolean
			r.done = ok && it.Value[0] == 1
		case "payload":
			_, r.payload, ok = bson.RawValue{Type: it.Type, Value: it.Value}.BinaryOK()
			seen = ok
		case "code":
			code, _ := it.Int64()
			if code != 0 {
				return r, fmt.Errorf("the server's reply has the error code %d", code)
			}
		}
		if !ok {
			return r, fmt.Errorf("%w: %s in the server's reply has the BSON type %s", wire.ErrMalformed, it.Key, it.Type)
		}
	}
	if it.Err == nil && !seen {
		return r, fmt.Errorf("%w: the server's reply has no payload", wire.ErrMalformed)
	}
	return r, it.Err
}
