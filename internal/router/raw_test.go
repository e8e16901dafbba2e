package router_test

import (
	"net"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// raw is a connection without a driver: what it sends has nothing but what the test says.
type raw struct {
	w    *world
	conn net.Conn
}

func (w *world) dial(address string) *raw {
	w.Helper()
	conn, err := w.network.DialContext(w.Context(), "tcp", address)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = conn.Close() })
	return &raw{w, conn}
}

// ask sends a command on the database app, and returns the reply.
func (r *raw) ask(command bson.D) bson.Raw {
	r.w.Helper()
	body, err := bson.Marshal(append(command, bson.E{Key: "$db", Value: "app"}))
	if err != nil {
		r.w.Fatal(err)
	}
	reply, err := r.askRaw(body)
	if err != nil {
		r.w.Fatal(err)
	}
	return reply
}

// askRaw sends the document of a command, and returns the reply.
func (r *raw) askRaw(body []byte) (bson.Raw, error) {
	at, b := wire.BeginMsg(nil, 1, 0, 0)
	if _, err := r.conn.Write(wire.EndMessage(append(b, body...), at)); err != nil {
		return nil, err
	}
	message, err := wire.ReadMessage(r.conn, nil, wire.MaxMessageLength)
	if err != nil {
		return nil, err
	}
	m, err := wire.ParseMsg(message)
	return m.Body, err
}
