package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// handshake sends the first hello on a new connection. It returns the server description and hello's
// speculativeAuthenticate, nil if there is none.
func (c *Conn) handshake(ctx context.Context, address string, h *initialHello) (*topology.Server, []byte, error) {
	elements, err := h.append(ctx, nil)
	if err != nil {
		return nil, nil, &unwrittenHello{err}
	}
	reply, err := c.roundTripMsg(ctx, firstHelloID, 0, "admin", elements)
	if err != nil {
		return nil, nil, err
	}
	description, err := c.helloReceived(address, reply)
	return description, speculativeReply(reply), err
}

// speculativeReply returns a copy of the speculativeAuthenticate of a reply to hello, nil if there is none.
func speculativeReply(reply []byte) []byte {
	for it := wire.Elements(reply); it.Next(); {
		if string(it.Key) == "speculativeAuthenticate" {
			return slices.Clone(it.Document())
		}
	}
	return nil
}

// handshakeCommand sends a command of the handshake. It returns a copy of the reply, which says "ok: 1"; another reply is
// an error.
func (c *Conn) handshakeCommand(
	ctx context.Context, database string, elements []byte, requestID int32, api *ServerAPI,
) ([]byte, error) {
	body, err := c.roundTripMsg(ctx, requestID, 0, database, api.Append(elements))
	if err != nil {
		return nil, err
	}
	body = slices.Clone(body)
	err = topology.ParseFailure(body)
	var failure *topology.HelloError
	switch {
	case errors.As(err, &failure):
		return nil, &refusedLogin{reply: body, err: failure}
	case err != nil:
		return nil, c.ioError(retry.StageInFlight, err)
	}
	return body, nil
}

// roundTripMsg sends a command as an OP_MSG and returns the body of the reply, which aliases the connection's buffer.
func (c *Conn) roundTripMsg(
	ctx context.Context, requestID int32, flags wire.MsgFlags, database string, elements []byte,
) ([]byte, error) {
	at, b := wire.BeginMsg(c.Out[:0], requestID, 0, flags)
	doc, b := wire.BeginDocument(b)
	b = wire.AppendString(append(b, elements...), "$db", database)
	c.Out = wire.EndMessage(wire.EndDocument(b, doc), at)
	reply, err := c.RoundTrip(ctx, c.Out, requestID)
	if err != nil {
		return nil, err
	}
	return c.msgBody(reply)
}

// msgBody returns the body of a reply that is an OP_MSG.
func (c *Conn) msgBody(reply []byte) ([]byte, error) {
	m, err := wire.ParseMsg(reply)
	if err != nil {
		return nil, c.ioError(retry.StageInFlight, err)
	}
	return m.Body, nil
}

// sendHello sends a later hello on a connection and returns the server description.
func (c *Conn) sendHello(ctx context.Context, address string, h *Handshake) (*topology.Server, error) {
	reply, err := c.roundTripMsg(ctx, laterHelloID, 0, "admin", h.appendLater(nil, c.Description.HelloOK))
	if err != nil {
		return nil, err
	}
	return c.helloReceived(address, reply)
}

// helloReceived keeps the body of a reply to hello, for the events, and returns the server description.
func (c *Conn) helloReceived(address string, body []byte) (*topology.Server, error) {
	c.hello = body
	return described(address, body)
}

// described returns the server description of the body of a reply to hello.
func described(address string, doc []byte) (*topology.Server, error) {
	doc = append([]byte(nil), doc...) // the description outlives the connection's buffer
	s, err := topology.ParseHello(address, doc)
	if err != nil {
		return nil, &refusedHello{reply: doc, err: err}
	}
	s.LastUpdateTime = time.Now()
	return s, nil
}
