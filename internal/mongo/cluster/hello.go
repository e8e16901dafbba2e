package cluster

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// handshake sends the first hello on a new connection and returns the server description.
func (c *Conn) handshake(ctx context.Context, address string, h *Handshake) (*topology.Server, error) {
	const requestID = 1
	if !h.legacy() {
		return c.roundTripHello(ctx, address, requestID, 0, h.appendFirst)
	}
	at, doc := wire.BeginDocument(nil)
	doc, err := h.appendFirst(doc)
	if err != nil {
		return nil, &unwrittenHello{err}
	}
	message := wire.AppendQuery(nil, requestID, wire.SecondaryOk, "admin.$cmd", wire.EndDocument(doc, at))
	reply, err := c.RoundTrip(ctx, message, requestID)
	if err != nil {
		return nil, err
	}
	body, err := wire.ParseReply(reply)
	if err != nil {
		return nil, c.ioError(retry.StageInFlight, err)
	}
	c.hello = body
	return described(address, body)
}

// sendHello sends a later hello on a connection and returns the server description.
func (c *Conn) sendHello(ctx context.Context, address string, h *Handshake) (*topology.Server, error) {
	return c.roundTripHello(ctx, address, laterHello, 0, func(b []byte) ([]byte, error) {
		return h.appendLater(b, c.Description.HelloOK), nil
	})
}

// roundTripHello sends a hello in an OP_MSG, with the elements that write appends, and returns the server
// description.
func (c *Conn) roundTripHello(
	ctx context.Context, address string, requestID int32, flags wire.MsgFlags, write func([]byte) ([]byte, error),
) (*topology.Server, error) {
	at, b := wire.BeginMsg(c.Out[:0], requestID, 0, flags)
	doc, b := wire.BeginDocument(b)
	b, err := write(b)
	if err != nil {
		return nil, &unwrittenHello{err}
	}
	b = wire.AppendString(b, "$db", "admin")
	c.Out = wire.EndMessage(wire.EndDocument(b, doc), at)
	reply, err := c.RoundTrip(ctx, c.Out, requestID)
	if err != nil {
		return nil, err
	}
	return c.describedBy(address, reply)
}

// describedBy returns the server description of a reply to hello in an OP_MSG.
func (c *Conn) describedBy(address string, reply []byte) (*topology.Server, error) {
	m, err := wire.ParseMsg(reply)
	if err != nil {
		return nil, c.ioError(retry.StageInFlight, err)
	}
	c.hello = m.Body
	return described(address, m.Body)
}

func described(address string, doc []byte) (*topology.Server, error) {
	doc = append([]byte(nil), doc...) // the description outlives the connection's buffer
	s, err := topology.ParseHello(address, doc)
	if err != nil {
		return nil, &refusedHello{reply: doc, err: err}
	}
	s.LastUpdateTime = time.Now()
	return s, nil
}
