package mongotest_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest"
)

// seedsFlag is for both kinds of random lives: TestSimulation and TestSafety.
var seedsFlag = flag.Int("seeds", 0, "how many random lives of a set each of the two tests runs; 0 means a few")

// TestSimulation lets writers, each with a session of its own, increment one document while members die, lose each other
// and fall silent. Every writer retries a statement, with the same transaction number, until it is acknowledged by a
// majority; then it must have been applied exactly once.
func TestSimulation(t *testing.T) {
	const few = 4 // one for each delay
	for seed := range uint64(cmp.Or(*seedsFlag, few)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) { simulate(t, rs, seed) },
				mongotest.Latency(200*time.Microsecond, 2*time.Millisecond), mongotest.Seed(int64(seed)),
				mongotest.ReplicationDelay(time.Duration(seed%4)*time.Millisecond), mongotest.ElectionTimeout(time.Second))
		})
	}
}

const (
	writers = 6
	perOne  = 60
)

func simulate(t *testing.T, rs *mongotest.Deployment, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	stop := make(chan struct{})
	var troubles, work sync.WaitGroup
	troubles.Go(func() { trouble(rs, random, stop) })
	for w := range writers {
		work.Go(func() { (&writer{t: t, rs: rs, id: w}).run() })
	}
	work.Wait()
	close(stop)
	troubles.Wait()
	rs.Heal()
	for m := range rs.Members() {
		rs.Restart(m)
	}
	must[int](t)(rs.WaitPrimary(context.Background()))
	must[any](t)(nil, rs.WaitIdle(context.Background()))
	doc := rs.ReadAll("test.c")[0]
	if n := number(doc, "n"); n != writers*perOne {
		t.Errorf("n = %d, want %d", n, writers*perOne)
	}
	for w := range writers {
		for op := range perOne {
			if n := number(doc, "ops", fmt.Sprintf("w%d_%d", w, op)); n != 1 {
				t.Errorf("operation %d of writer %d was applied %d times", op, w, n)
			}
		}
	}
	verifyJournal(t, rs)
}

// verifyJournal checks that the document holds exactly the increments that were applied and not rolled back.
func verifyJournal(t *testing.T, rs *mongotest.Deployment) {
	t.Helper()
	kept, rolledBack, deduplicated := 0, 0, 0
	for _, e := range rs.Journal() {
		switch {
		case e.RolledBack:
			rolledBack++
		case e.Applied:
			kept++
		case e.Deduplicated:
			deduplicated++
		}
	}
	if kept != writers*perOne {
		t.Errorf("the journal has %d attempts that were applied and kept, want %d", kept, writers*perOne)
	}
	t.Logf("term %d, %d rolled back, %d deduplicated", rs.Term(), rolledBack, deduplicated)
}

// trouble does random things to the members until stop is closed.
func trouble(rs *mongotest.Deployment, random *rand.Rand, stop chan struct{}) {
	release := func() {}
	for {
		m := random.IntN(3)
		switch random.IntN(8) {
		case 0:
			rs.Kill(m)
		case 1:
			rs.Isolate(m)
		case 2:
			rs.Partition([]int{m})
		case 3:
			_ = rs.StepDown()
		case 4:
			release()
			release = rs.Use(mongotest.AnyCommand, mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
				return mongotest.Fault{AfterApply: func() { rs.Kill(r.Member) }}
			}))
		default:
			release()
			rs.Heal()
			for m := range rs.Members() {
				rs.Restart(m)
			}
		}
		select {
		case <-stop:
			release()
			return
		case <-time.After(time.Duration(random.IntN(2000)) * time.Millisecond):
		}
	}
}

// writer is a client that retries on whatever goes wrong.
type writer struct {
	t    *testing.T
	rs   *mongotest.Deployment
	id   int
	conn net.Conn
}

func (w *writer) run() {
	for op := range perOne {
		body, err := bson.Marshal(j(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1, "ops.w%d_%d": 1}}, "upsert": true}],
			"lsid": {"id": {"$uuid": "00000000-0000-4000-8000-00000000000%d"}}, "txnNumber": {"$numberLong": "%d"}, "$db": "test"}`,
			w.id, op, w.id, op+1))
		if err != nil {
			w.t.Error(err)
			return
		}
		at, msg := wire.BeginMsg(nil, int32(op), 0, 0)
		msg = wire.EndMessage(append(msg, body...), at)
		for !w.attempt(msg) {
			pass(100 * time.Millisecond)
		}
		pass(200 * time.Millisecond)
	}
	if w.conn != nil {
		_ = w.conn.Close()
	}
}

// attempt reports whether the statement was acknowledged by a majority.
func (w *writer) attempt(msg []byte) bool {
	if w.conn == nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		conn, err := w.rs.Dialer().DialContext(ctx, "tcp", w.rs.Addr(max(0, w.rs.Primary())))
		if err != nil {
			return false
		}
		w.conn = conn
	}
	reply, err := w.roundTrip(msg)
	if err == nil && number(reply, "ok") == 1 && number(reply, "writeConcernError", "code") == -1 {
		if _, err := reply.LookupErr("writeErrors"); err == nil {
			if number(reply, "writeErrors", "0", "code") != 11000 { // two upserts at once
				w.t.Errorf("writer %d: %v", w.id, reply)
			}
			return false
		}
		return true
	}
	_ = w.conn.Close()
	w.conn = nil
	return false
}

func (w *writer) roundTrip(msg []byte) (bson.Raw, error) {
	_ = w.conn.SetDeadline(time.Now().Add(3 * time.Second))
	if _, err := w.conn.Write(msg); err != nil {
		return nil, err
	}
	b, err := wire.ReadMessage(w.conn, nil, wire.MaxMessageLength)
	if err != nil {
		return nil, err
	}
	m, err := wire.ParseMsg(b)
	return m.Body, err
}
