package mongotest_test

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/openloop"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// soakFloor returns a client of a server that does nothing: it answers each message with the same document. What delays its pings is not
// the server that is measured, but the process and the machine.
func soakFloor(t *testing.T) *mongo.Client {
	t.Helper()
	reply, err := bson.Marshal(bson.D{
		{Key: "ok", Value: 1}, {Key: "isWritablePrimary", Value: true}, {Key: "helloOk", Value: true}, {Key: "maxWireVersion", Value: 25},
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at the end
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerAll(conn, reply)
		}
	}()
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + listener.Addr().String() + "/?directConnection=true"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client
}

// answerAll answers each message of a connection until the client closes it.
func answerAll(conn net.Conn, reply []byte) {
	defer conn.Close()
	for {
		message, err := wire.ReadMessage(conn, nil, wire.MaxMessageLength)
		if err != nil {
			return
		}
		h, err := wire.ParseHeader(message)
		if err != nil {
			return
		}
		var out []byte
		if h.OpCode == wire.OpQuery {
			out = wire.AppendReply(nil, 1, h.RequestID, reply)
		} else {
			at, b := wire.BeginMsg(nil, 1, h.RequestID, 0)
			out = wire.EndMessage(append(b, reply...), at)
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
	}
}

// slower returns how long each ping took while no call of the floor was under way: what delays everybody delays both.
func slower(pings, floor []openloop.Call) []time.Duration {
	took := make([]time.Duration, len(pings))
	for i, p := range pings {
		for len(floor) > 0 && floor[0].End.Before(p.Due) {
			floor = floor[1:]
		}
		from := p.Due
		for _, f := range floor {
			if f.Due.After(p.End) {
				break
			}
			took[i] += max(0, f.Due.Sub(from))
			from = f.End
		}
		took[i] += max(0, p.End.Sub(from))
	}
	return took
}

func TestWhatDelaysEverybodyMakesNoPingSlower(t *testing.T) {
	start := time.Now()
	calls := func(took ...time.Duration) (list []openloop.Call) {
		for i, d := range took {
			due := start.Add(time.Duration(i) * 20 * time.Millisecond)
			list = append(list, openloop.Call{Due: due, End: due.Add(d * time.Millisecond)})
		}
		return list
	}
	for _, c := range []struct {
		name         string
		pings, floor []openloop.Call
		want         []time.Duration
	}{
		{"as fast as the floor", calls(1, 2, 1), calls(1, 2, 1), []time.Duration{0, 0, 0}},
		{"faster", calls(1, 1), calls(5, 5), []time.Duration{0, 0}},
		{"slower", calls(8, 50, 31), calls(1, 1, 1, 1), []time.Duration{7, 47, 29}},
		{"all wait", calls(1, 85, 65, 45), calls(2, 80, 60, 40), []time.Duration{0, 5, 5, 5}},
		{"all wait twice", calls(90, 70, 50, 30, 10), calls(25, 5, 45, 25, 5), []time.Duration{20, 20, 5, 5, 5}},
		{"the floor alone waits", calls(1, 1, 1), calls(50, 30, 10), []time.Duration{0, 0, 0}},
	} {
		got := slower(c.pings, c.floor)
		for i := range c.want {
			c.want[i] *= time.Millisecond
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
