package mongotest

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest"
)

// TestStartAndStop measures what a test pays for its server: start it, on TCP, ask every member for a ping on a raw
// connection, stop it.
func TestStartAndStop(t *testing.T) {
	startAndStop(t, "mock-start-ms", time.Millisecond, 1)
	startAndStop(t, "mock-set-start-ms", 5*time.Millisecond, 3)
}

func startAndStop(t *testing.T, figure string, bar time.Duration, members int) {
	t.Helper()
	ping := request(t, bson.D{{Key: "ping", Value: 1}, {Key: "$db", Value: "admin"}})
	measure(t, figure, bar, func() time.Duration {
		began := time.Now()
		rs, err := mongotest.RunReplicaSet(members)
		if err != nil {
			t.Fatal(err)
		}
		for m := range members {
			conn, err := rs.Dialer().DialContext(t.Context(), "tcp", rs.Addr(m))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write(ping); err != nil {
				t.Fatal(err)
			}
			if _, err := wire.ReadMessage(conn, nil, wire.MaxMessageLength); err != nil {
				t.Fatal(err)
			}
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := rs.Close(); err != nil {
			t.Fatal(err)
		}
		return time.Since(began)
	})
}

// request returns a command as an OP_MSG.
func request(t *testing.T, command bson.D) []byte {
	t.Helper()
	body, err := bson.Marshal(command)
	if err != nil {
		t.Fatal(err)
	}
	at, msg := wire.BeginMsg(nil, 1, 0, 0)
	return wire.EndMessage(append(msg, body...), at)
}
