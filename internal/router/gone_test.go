package router_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router"
)

// inUse counts the connections to members that are checked out.
func inUse(n *atomic.Int64) func(*router.Config) {
	return func(c *router.Config) {
		c.Upstream.SetPoolMonitor(&event.PoolMonitor{Event: func(e *event.PoolEvent) {
			switch e.Type {
			case event.ConnectionCheckedOut:
				n.Add(1)
			case event.ConnectionCheckedIn:
				n.Add(-1)
			}
		}})
	}
}

// phase is where a client stands when it leaves.
type phase struct {
	name    string
	primary bool // there is one
	send    func(w *world, c *wireClient)
}

func sends(parts ...[]byte) func(*world, *wireClient) {
	return func(w *world, c *wireClient) {
		for _, b := range parts {
			if _, err := c.conn.Write(b); err != nil {
				w.Error(err)
			}
		}
	}
}

// A client may leave in any phase: nothing of it stays, its write is not sent afterwards, and the next client is served.
func TestClientsLeaveInEachPhase(t *testing.T) {
	insert := messageOf(t, bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{d("_id", 1)}}}, 0)
	full := insertOf(t, 1024)
	ping := messageOf(t, d("ping", 1), 0)
	large := insertOf(t, 200_000)
	for _, p := range []phase{
		{"before it sends", true, sends()},
		{"after half a header", true, sends(ping[:9])},
		{"after half a message", true, sends(ping[:20])},
		{"after half a large message", true, sends(large[:100_000])},
		{"after the header of a large message", true, sends(large[:16])},
		{"between two messages", true, func(_ *world, c *wireClient) { c.must(d("ping", 1)) }},
		{"while its hello waits", true, awaitedHello(0)},
		{"while its hellos go on", true, awaitedHello(wire.ExhaustAllowed)},
		{"while its write waits", false, sends(insert)},
		{"while its large write waits", false, sends(large)},
		{"while its write waits that fills the buffer", false, sends(full)},
		{"while its write waits, with the next message sent", false, sends(insert, ping)},
		{"while its write waits, with half a message sent, twice", false, func(w *world, c *wireClient) {
			sends(insert)(w, c)
			synctest.Wait()
			sends(ping[:9])(w, c)
			synctest.Wait()
			sends(ping[9:20])(w, c)
		}},
	} {
		t.Run(p.name, func(t *testing.T) {
			var out atomic.Int64
			inWorld(t, func(w *world) {
				w.dial().must(bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{d("_id", 0)}}})
				if !p.primary {
					w.withoutPrimary()
				}
				before := w.router.Clients()
				c := w.dial()
				p.send(w, c)
				synctest.Wait()
				_ = c.conn.Close()
				synctest.Wait()
				if n := w.router.Clients(); n != before {
					w.Errorf("%d clients are connected, want %d", n, before)
				}
				if w.router.MemoryInUse(256 << 20) {
					w.Error("its message holds memory")
				}
				if !p.primary {
					for i := range 3 {
						w.set.Restart(i)
					}
					<-time.After(time.Minute)
				}
				if n := out.Load(); n != 0 {
					w.Errorf("%d connections are in use", n)
				}
				w.set.CheckDocuments(w, "app.c", d("_id", 0))
				w.dial().must(bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{d("_id", 9)}}})
			}, inUse(&out))
		})
	}
}

// insertOf returns an insert whose message has a length.
func insertOf(t *testing.T, length int) []byte {
	t.Helper()
	with := func(n int) []byte {
		document := bson.D{{Key: "_id", Value: 1}, {Key: "a", Value: strings.Repeat("x", n)}}
		return messageOf(t, bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{document}}}, 0)
	}
	return with(length - len(with(0)))
}

// awaitedHello sends a hello that waits for a day.
func awaitedHello(flags wire.MsgFlags) func(w *world, c *wireClient) {
	return func(w *world, c *wireClient) {
		hello := bson.D{
			{Key: "hello", Value: 1},
			{Key: "topologyVersion", Value: c.run(d("hello", 1)).Lookup("topologyVersion")},
			{Key: "maxAwaitTimeMS", Value: int64(24 * time.Hour / time.Millisecond)},
		}
		sends(messageOf(w, hello, flags))(w, c)
	}
}

// What a client sends while its operation waits is served afterwards.
func TestMessagesSentAheadAreServed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.dial().must(bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{d("_id", 0)}}})
		w.withoutPrimary()
		c := w.dial()
		const ahead = 40
		message := messageOf(w, bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{d("_id", 1)}}}, 0)
		go func() {
			_, _ = c.conn.Write(message)
			for range ahead {
				_, _ = c.conn.Write(messageOf(w, d("ping", 1), 0))
				<-time.After(time.Millisecond)
			}
		}()
		<-time.After(time.Second)
		for i := range 3 {
			w.set.Restart(i)
		}
		for i := range 1 + ahead {
			if reply, err := c.receive(); err != nil || reply.Lookup("ok").AsInt64() != 1 {
				w.Fatalf("reply %d: %v, %v", i, reply, err)
			}
		}
	})
}

// A client that never reads keeps nothing but its own connection.
func TestAClientThatNeverReads(t *testing.T) {
	var out atomic.Int64
	inWorld(t, func(w *world) {
		if err := w.set.Insert("app.c", bson.D{{Key: "_id", Value: 0}, {Key: "a", Value: strings.Repeat("x", 8<<20)}}); err != nil {
			w.Fatal(err)
		}
		deaf := w.dial()
		for range 8 {
			sends(messageOf(w, d("find", "c"), 0))(w, deaf)
		}
		<-time.After(time.Minute)
		if n := out.Load(); n != 0 {
			w.Errorf("%d connections are in use", n)
		}
		w.dial().must(d("count", "c"))
		began := time.Now()
		w.router.Close()
		if took := time.Since(began); took > time.Second {
			w.Errorf("the router took %v to close", took)
		}
	}, inUse(&out))
}
