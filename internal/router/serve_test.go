package router

import (
	"net"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// What a client has begun ends with its connection, and its last message is not kept while it is silent.
func TestNothingOfAClientIsLeft(t *testing.T) {
	here, there := net.Pipe()
	c := newClient(isolatedRouter(t), here, 1)
	go func() {
		defer there.Close()
		body := marshal(t, bson.D{{Key: "hello", Value: 1}, {Key: "$db", Value: "admin"}})
		at, message := wire.BeginMsg(nil, 1, 0, 0)
		_, _ = there.Write(wire.EndMessage(append(message, body...), at))
		_, _ = wire.ReadMessage(there, nil, maxMessageBytes)
	}()
	if c.serve(); c.ctx.Err() == nil || c.parser.database != "admin" || c.parser.command.Body != nil {
		t.Errorf("its context: %v; of its last message %d bytes are kept", c.ctx.Err(), len(c.parser.command.Body))
	}
}
