package cluster

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// The requestIDs of the hellos of a connection.
const (
	firstHelloID = 1
	laterHelloID = 2
)

// awaitHello sends a hello that the server answers when its topologyVersion is newer than known, or after await. The
// server may then go on with further hellos, which nextHello reads (Server Monitoring, "Awaitable hello").
func (c *Conn) awaitHello(
	ctx context.Context, address string, h *Handshake, known *topology.TopologyVersion, await time.Duration,
) (*topology.Server, error) {
	b := h.appendLater(nil, c.Description.HelloOK)
	at, b := wire.BeginEmbedded(b, "topologyVersion")
	b = wire.AppendObjectID(b, "processId", known.ProcessID)
	b = wire.EndDocument(wire.AppendInt64(b, "counter", known.Counter), at)
	b = wire.AppendInt64(b, "maxAwaitTimeMS", await.Milliseconds())
	reply, err := c.roundTripMsg(ctx, laterHelloID, wire.ExhaustAllowed, "admin", b)
	if err != nil {
		return nil, err
	}
	return c.helloReceived(address, reply)
}

// nextHello returns the next hello of a stream.
func (c *Conn) nextHello(ctx context.Context, address string) (*topology.Server, error) {
	reply, err := c.Next(ctx)
	if err != nil {
		return nil, err
	}
	body, err := c.msgBody(reply)
	if err != nil {
		return nil, err
	}
	return c.helloReceived(address, body)
}
