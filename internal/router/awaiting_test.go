package router_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// poolOf gives the router that many connections to each member.
func poolOf(n uint64) func(*router.Config) {
	return func(c *router.Config) { c.Upstream.SetMaxPoolSize(n) }
}

// awaitingClients opens n cursors that wait for documents, and has each ask for more until the end of the test. It returns the median and
// the longest time of those getMores within some seconds.
func (w *world) awaitingClients(n int, seconds int, open bson.D, more ...bson.E) (median, longest time.Duration) {
	w.Helper()
	took := make(chan []time.Duration, n)
	for range n {
		c := w.dial()
		id, ok := c.run(open).Lookup("cursor", "id").AsInt64OK()
		if !ok || id == 0 {
			w.Fatalf("%v opens no cursor", open)
		}
		go func() {
			var all []time.Duration
			for began := time.Now(); time.Since(began) < time.Duration(seconds)*time.Second; {
				before := time.Now()
				reply := c.run(bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}}, more...)
				if reply.Lookup("ok").AsFloat64() != 1 {
					w.Errorf("getMore is answered with %v", reply)
					break
				}
				all = append(all, time.Since(before))
			}
			took <- all
		}()
	}
	var all []time.Duration
	for range n {
		all = append(all, <-took...)
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)-1]
}

var changeStream = bson.D{
	{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{d("$changeStream", bson.D{})}}, {Key: "cursor", Value: bson.D{}},
}

// A few wait as long as they ask, or as long as a member lets them that ask for nothing.
func TestFewAwaitAsLongAsTheyAsk(t *testing.T) {
	for _, c := range []struct {
		asked []bson.E
		want  time.Duration
	}{
		{nil, time.Second},
		{[]bson.E{{Key: "maxTimeMS", Value: 7000}}, 7 * time.Second},
	} {
		t.Run(c.want.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				if median, longest := w.awaitingClients(5, 20, changeStream, c.asked...); median != c.want || longest != c.want {
					w.Errorf("getMores take %v, at most %v, want %v", median, longest, c.want)
				}
			}, poolOf(20))
		})
	}
}

// A crowd takes turns, and leaves connections for others, whose operations wait for no turn.
func TestACrowdThatAwaitsTakesTurns(t *testing.T) {
	for _, asked := range [][]bson.E{nil, {{Key: "maxTimeMS", Value: 60_000}}} {
		t.Run(fmt.Sprint(asked), func(t *testing.T) {
			inWorld(t, func(w *world) {
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					c := w.dial()
					for range 100 {
						before := time.Now()
						c.must(d("find", "c"))
						if took := time.Since(before); took > 0 {
							w.Errorf("a find waits %v", took)
						}
						<-time.After(100 * time.Millisecond)
					}
				}()
				// Of ten turns five may be those of long ones. The others give 5 × 1,000 ms / 500 each.
				if median, longest := w.awaitingClients(500, 10, changeStream, asked...); median > 2*time.Second || longest > 62*time.Second {
					w.Errorf("getMores take %v, at most %v", median, longest)
				}
				<-ended
			}, poolOf(20))
		})
	}
}

func TestWhichGetMoresAwait(t *testing.T) {
	tailable := bson.D{{Key: "find", Value: "capped"}, {Key: "tailable", Value: true}}
	awaiting := append(slices.Clone(tailable), bson.E{Key: "awaitData", Value: true})
	limited := []bson.E{{Key: "maxTimeMS", Value: 100}}
	const second = "second:27017"
	for _, c := range []struct {
		open   bson.D
		at     string // the router
		more   []bson.E
		awaits bool
	}{
		{changeStream, address, nil, true},
		{awaiting, address, nil, true},
		{awaiting, address, limited, true},
		{awaiting, second, limited, true},
		{tailable, address, nil, false},
		{bson.D{{Key: "find", Value: "c"}, {Key: "batchSize", Value: 1}}, address, nil, false},
	} {
		inWorld(t, func(w *world) {
			defer w.startAt(second).Close()
			w.fill(2)
			first := w.dial()
			first.must(bson.D{{Key: "create", Value: "capped"}, {Key: "capped", Value: true}, {Key: "size", Value: 10_000}})
			first.must(bson.D{{Key: "insert", Value: "capped"}, {Key: "documents", Value: bson.A{d("_id", 1)}}})
			var clients []*wireClient
			var getMores []bson.D
			for range 2 {
				client := w.dial()
				getMore := command("getMore", w.dialTo(c.at).run(c.open).Lookup("cursor", "id").AsInt64(), e("collection", c.open[0].Value))
				if c.at == second { // it is known, but not that its getMores wait
					client.must(getMore, e("maxTimeMS", 1))
				}
				clients, getMores = append(clients, client), append(getMores, append(getMore, c.more...))
			}
			w.set.Use("getMore", mongotest.Always(mongotest.Fault{Delay: time.Second}))
			// With pools of two there is one turn: the second getMore waits for it if it needs one.
			began := time.Now()
			ended := make(chan struct{})
			for i, client := range clients {
				go func() {
					client.must(getMores[i])
					ended <- struct{}{}
				}()
			}
			<-ended
			<-ended
			if took := time.Since(began); (took > 2*time.Second) != c.awaits { // at once they take up to two seconds
				w.Errorf("%v: two getMores took %v, so they wait for turns: %v", c.open, took, !c.awaits)
			}
		}, poolOf(2))
	}
}

// Who leaves while it waits for a turn, or has one, gives it up.
func TestATurnOfAClientThatLeavesIsFree(t *testing.T) {
	inWorld(t, func(w *world) {
		id := func(c *wireClient) int64 { return c.run(changeStream).Lookup("cursor", "id").AsInt64() }
		getMore := func(c *wireClient) bson.D {
			return bson.D{{Key: "getMore", Value: id(c)}, {Key: "collection", Value: "c"}}
		}
		has, waits, last := w.dial(), w.dial(), w.dial()
		long := bson.E{Key: "maxTimeMS", Value: 3_600_000}
		has.send(getMore(has), long)
		<-time.After(time.Millisecond)
		waits.send(getMore(waits), long)
		<-time.After(time.Millisecond)
		last.send(getMore(last))
		ends := w.dial()
		ends.must(command("killCursors", "c", e("cursors", bson.A{id(ends)})), e("maxTimeMS", 60_000)) // that waits for no turn
		_ = has.conn.Close()
		_ = waits.conn.Close()
		began := time.Now()
		if reply, err := last.receive(); err != nil || reply.Lookup("ok").AsFloat64() != 1 || time.Since(began) > 10*time.Second {
			w.Errorf("the last one is answered after %v: %v, %v", time.Since(began), reply, err)
		}
	}, poolOf(2))
}

// With one connection to each member a getMore has that connection, so it is ended soon.
func TestAGetMoreLeavesTheOnlyConnection(t *testing.T) {
	inWorld(t, func(w *world) {
		stream := w.dial()
		id := stream.run(changeStream).Lookup("cursor", "id").AsInt64()
		stream.send(command("getMore", id, e("collection", "c"), e("maxTimeMS", 60_000)))
		<-time.After(time.Millisecond)
		began := time.Now()
		w.dial().must(d("count", "c"))
		if took := time.Since(began); took > 100*time.Millisecond {
			w.Errorf("a count waits %v", took)
		}
		if reply, err := stream.receive(); err != nil || reply.Lookup("ok").AsFloat64() != 1 {
			w.Errorf("the getMore is answered with %v, %v", reply, err)
		}
	}, poolOf(1))
}

// The getMores of a find that asks for resume tokens do not wait for documents, and members refuse maxTimeMS in them.
func TestAFindWithResumeTokensIsNoChangeStream(t *testing.T) {
	inWorld(t, func(w *world) {
		w.fill(2)
		w.set.Use("find", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			reply := next(r)
			var body bson.D
			if err := bson.Unmarshal(reply.Body, &body); err != nil {
				w.Error(err)
			}
			for i := range body {
				if cursor, ok := body[i].Value.(bson.D); ok && body[i].Key == "cursor" {
					cursor = append(cursor, e("postBatchResumeToken", d("$recordId", int64(1))))
					body[i].Value = cursor
				}
			}
			reply.Body = document(body)
			return reply
		})
		c := w.dial()
		id := c.run(command("find", "c", e("batchSize", 1))).Lookup("cursor", "id").AsInt64()
		for range 5 { // with pools of four one may wait as long as it asks
			crowd := w.dial()
			stream := crowd.run(changeStream).Lookup("cursor", "id").AsInt64()
			crowd.send(command("getMore", stream, e("collection", "c")))
		}
		<-time.After(time.Millisecond)
		w.set.Use("getMore", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			if r.Body.Lookup("getMore").AsInt64() == id && r.Body.Lookup("maxTimeMS").Type != 0 {
				w.Errorf("the member gets %v", r.Body)
			}
			return next(r)
		})
		c.must(command("getMore", id, e("collection", "c"), e("batchSize", 1)))
	}, poolOf(4))
}
