package router_test

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

var dyings = flag.Int("dyings", 2, "how many crowds of clients die at random moments")

// Clients with messages and replies of many sizes die at random moments, and stop to read, while connections break, members die and replies are lost.
// Afterwards nothing of them is left, and the largest messages pass.
func TestClientsThatDieAnywhereHoldNothing(t *testing.T) {
	for seed := range uint64(*dyings) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			var out atomic.Int64
			inWorld(t, func(w *world) {
				w.router.SetMemory(littleMemory)
				first := w.dial()
				for range 8 {
					first.must(insertBytes(40 << 10))
				}
				_ = first.conn.Close()
				w.dyingCrowd(seed)
				<-time.After(45 * time.Second) // who waits for memory has given up
				synctest.Wait()
				if n := w.router.Clients(); n != 0 {
					w.Errorf("%d clients are connected", n)
				}
				if n := out.Load(); n != 0 {
					w.Errorf("%d connections are checked out", n)
				}
				if memory, turns, waits := w.router.MemoryInUse(littleMemory), w.router.Awaiting(), w.router.Waiting(); memory || turns+int64(waits) != 0 {
					w.Errorf("memory is in use: %v; %d have turns, %d wait", memory, turns, waits)
				}
				last, largest := w.dial(), sequenceOf(w, littleMemory/4)
				for range 3 {
					sends(largest)(w, last)
					if reply, err := last.receive(); err != nil || reply.Lookup("ok").AsFloat64() != 1 {
						w.Errorf("the largest message: %v, %v", reply, err)
					}
				}
			}, poolOf(8), inUse(&out), func(c *router.Config) {
				if seed%2 == 1 {
					c.Upstream.SetCompressors([]string{"zlib"})
				}
			})
		})
	}
}

// dyingCrowd is over when all clients have died.
func (w *world) dyingCrowd(seed uint64) {
	for i, name := range []string{"insert", "find", "aggregate", "getMore", "findAndModify"} {
		defer w.set.Use(name, unreliable(rand.New(rand.NewPCG(seed, uint64(i)))))()
	}
	l := w.pipes() // half of the clients come over connections without room for bytes
	defer l.Close()
	var all sync.WaitGroup
	for i := range 40 {
		connect := w.dial
		if i%2 == 0 {
			connect = func() *wireClient { return l.dial(w) }
		}
		m := &mortal{wireClient: connect(), Rand: rand.New(rand.NewPCG(seed, 100+uint64(i)))}
		all.Go(m.live)
	}
	stop := make(chan struct{})
	var chaos sync.WaitGroup
	chaos.Go(func() { unrest(w, stop) })
	all.Wait()
	close(stop)
	chaos.Wait()
}

// unreliable delays some requests, and loses others, or their replies.
func unreliable(random *rand.Rand) mongotest.Middleware {
	var mu sync.Mutex
	return func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		mu.Lock()
		kind, delay := random.IntN(20), time.Duration(random.Int64N(int64(3*time.Second)))
		mu.Unlock()
		var f mongotest.Fault
		switch kind {
		case 0, 1, 2:
			f.Delay = delay
		case 3:
			f.LoseRequest = true
		case 4:
			f.LoseReply = true
		case 5:
			f.LoseReply, f.CutReplyAfter = true, 100_000
		}
		return mongotest.Always(f)(r, next)
	}
}

// mortal is a client that dies at a random moment.
type mortal struct {
	*wireClient
	*rand.Rand
	cursor int64
}

func (m *mortal) live() {
	defer m.conn.Close()
	for range 1 + m.IntN(6) {
		if !m.exchange(m.message()) {
			return
		}
	}
}

// exchange sends a message and reads the reply, or dies meanwhile.
func (m *mortal) exchange(b []byte) (lives bool) {
	_ = m.conn.SetDeadline(time.Now().Add(30 * time.Second))
	last, reads, rests := len(b), int64(0), time.Duration(0)
	switch m.IntN(12) {
	case 0: // in the middle of the message
		last = m.IntN(len(b))
	case 1: // which stops for a while, perhaps for too long
		last, rests = m.IntN(len(b)), time.Duration(m.Int64N(int64(15*time.Second)))
	case 2: // while the operation runs
		rests = time.Duration(m.Int64N(int64(6 * time.Second)))
	case 3: // in the middle of the reply
		reads = m.Int64N(100_000)
	case 4: // which it stops to read
		reads, rests = m.Int64N(1000), 14*time.Second
	default:
		if _, err := m.conn.Write(b); err != nil {
			return false
		}
		reply, err := m.receive()
		if id, ok := reply.Lookup("cursor", "id").Int64OK(); ok {
			m.cursor = id
		}
		return err == nil
	}
	_, _ = m.conn.Write(b[:last])
	_, _ = io.CopyN(io.Discard, m.conn, reads)
	<-time.After(rests)
	return false
}

// sizes are those at which the router treats messages and replies in another way.
var sizes = []int{10, 900, 1 << 10, 64 << 10, 100 << 10, littleMemory / 4, 300 << 10, 1 << 20}

// message returns one of about such a size.
func (m *mortal) message() []byte {
	text := e("comment", strings.Repeat("x", max(1, sizes[m.IntN(len(sizes))]-m.IntN(200))))
	var more []bson.E
	if m.IntN(3) == 0 {
		more = append(more, e("maxTimeMS", 1+m.IntN(5000)))
	}
	switch m.IntN(8) {
	case 0:
		return messageOf(m.w, command("insert", "c", append(more, e("documents", bson.A{append(bson.D{}, text)}))...), 0)
	case 1:
		silent := command("insert", "c", e("writeConcern", d("w", 0)))
		return messageOf(m.w, silent, wire.MoreToCome, func(b []byte) []byte { return wire.AppendSequence(b, "documents", document(append(bson.D{}, text))) })
	case 2:
		return messageOf(m.w, command("insert", "c", e("documents", bson.A{})), 0)
	case 3:
		return messageOf(m.w, command("findAndModify", "c", append(more, text, e("query", bson.D{}), e("update", d("$set", d("b", 1))))...), 0)
	case 4:
		q := wire.Query{Collection: []byte("app.c"), Return: int32(1 + m.IntN(6)), Document: document(bson.D{e("$query", bson.D{}), e("$comment", text.Value)})}
		return q.Append(nil, 7)
	case 5:
		return messageOf(m.w, append(changeStream[:len(changeStream):len(changeStream)], text), 0)
	case 6:
		if m.cursor != 0 {
			return messageOf(m.w, command("getMore", m.cursor, append(more, e("collection", "c"))...), 0)
		}
	}
	return messageOf(m.w, command("find", "c", append(more, text, e("batchSize", 1+m.IntN(8)))...), 0)
}
