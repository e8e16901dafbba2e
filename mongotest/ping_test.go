package mongotest

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// A ping is answered while a command has the set's mutex, however long that takes.
func TestAPingDoesNotWaitForTheMutex(t *testing.T) {
	rs := RunReplicaSetT(t, 1, InMemory())
	conn, err := rs.Dialer().DialContext(context.Background(), "tcp", rs.Addr(0))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ping := func() {
		t.Helper()
		body, err := bson.Marshal(bson.D{{Key: "ping", Value: 1}, {Key: "$db", Value: "admin"}})
		if err != nil {
			t.Fatal(err)
		}
		at, msg := wire.BeginMsg(nil, 1, 0, 0)
		if _, err := conn.Write(wire.EndMessage(append(msg, body...), at)); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Minute)) // only a ping that waits for ever reaches it
		if _, err := wire.ReadMessage(conn, nil, wire.MaxMessageLength); err != nil {
			t.Fatal(err)
		}
	}
	ping() // the connection has been accepted
	rs.set.Lock()
	defer rs.set.Unlock()
	ping()
}
