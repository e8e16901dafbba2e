package router_test

import (
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// begin begins a transaction. It returns the mongos that has it, and the recovery token.
func (w *world) begin(c *wireClient) (at int, token bson.E) {
	w.Helper()
	var last atomic.Int64
	defer w.atMongos("insert", func(r *mongotest.Request, _ int64, next mongotest.Handler) *mongotest.Reply {
		last.Store(int64(r.Mongos))
		return next(r)
	})()
	reply := c.run(command("insert", "c", e("documents", bson.A{d("_id", 1)})), transaction(1, e("startTransaction", true))...)
	value, err := reply.LookupErr("recoveryToken")
	if err != nil {
		w.Fatalf("the insert is answered with %v", reply)
	}
	return int(last.Load()), e("recoveryToken", value)
}

// atMongos has f answer a command instead of each mongos. The number of the first message is 1.
func (w *world) atMongos(command string, f func(r *mongotest.Request, number int64, next mongotest.Handler) *mongotest.Reply) (end func()) {
	var seen atomic.Int64
	return w.set.Use(command, func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		if r.Mongos < 0 {
			return next(r)
		}
		return f(r, seen.Add(1), next)
	})
}

// The mongos of a transaction dies. Its statements fail, so that the program begins again; its end is done by another mongos, once.
func TestTheMongosOfATransactionDies(t *testing.T) {
	for _, end := range []string{"commitTransaction", "abortTransaction", "insert"} {
		t.Run(end, func(t *testing.T) {
			inShardedWorld(t, func(w *world) {
				c := w.dial()
				at, token := w.begin(c)
				if end == "commitTransaction" { // another mongos can only tell what this one has done
					w.set.Use(end, mongotest.FaultOnce(mongotest.Fault{After: func() { w.set.KillMongos(at) }}))
				} else {
					w.set.KillMongos(at)
				}
				last, db := append(command(end, 1, transaction(1)...), token), "admin"
				if end == "insert" {
					last, db = command(end, "c", transaction(1, e("documents", bson.A{d("_id", 2)}))...), "app"
					w.atMongos(end, func(r *mongotest.Request, _ int64, next mongotest.Handler) *mongotest.Reply {
						w.Error("another mongos gets the statement")
						return next(r)
					})
				}
				reply, err := c.ask(last, db)
				if err != nil {
					w.Fatal(err)
				}
				ok := reply.Lookup("ok").AsFloat64() == 1
				if end == "insert" {
					label, _ := reply.Lookup("errorLabels", "0").StringValueOK()
					if ok || label != "TransientTransactionError" {
						w.Errorf("a statement after that: %v", reply)
					}
					return
				}
				if end == "commitTransaction" && !ok {
					w.Errorf("the commit: %v", reply)
				}
				n := c.run(d("count", "c")).Lookup("n").AsInt64()
				if want := map[string]int64{"commitTransaction": 1}[end]; n != want {
					w.Errorf("after %s there are %d documents, want %d: %v", end, n, want, reply)
				}
			})
		})
	}
}

// A commit goes to the mongos of its transaction, and to others only if that one has failed: then as often as any commit.
func TestWhereACommitGoes(t *testing.T) {
	type request struct {
		*mongotest.Request
		ofBegin bool // it is at the mongos of transaction 1
		number  int64
		next    mongotest.Handler
	}
	refused := func(code int32, labels ...string) *mongotest.Reply {
		return &mongotest.Reply{Error: &mongotest.CommandError{Code: code, Labels: labels}}
	}
	lost := &mongotest.Reply{Lost: true}
	for name, c := range map[string]struct {
		number int64 // of the transaction that is committed
		more   []bson.E
		reply  func(w *world, r request) *mongotest.Reply
		sent   int64 // 0: any number
		code   int64
		took   time.Duration // the whole seconds
		known  int           // transactions whose mongos is known afterwards
	}{
		"it dies, and the next one does not answer": {number: 1, sent: 3, known: 1, reply: func(w *world, r request) *mongotest.Reply {
			reply := r.next(r.Request)
			if r.number == 1 {
				w.set.KillMongos(r.Mongos)
			}
			if r.number == 3 {
				return reply
			}
			return lost
		}},
		"none answers":        {number: 1, code: 6, took: 20 * time.Second, reply: func(*world, request) *mongotest.Reply { return lost }},
		"it answers an error": {number: 1, sent: 1, code: 8000, known: 1, reply: func(*world, request) *mongotest.Reply { return refused(8000) }},
		"its write concern fails": {number: 1, sent: 1, known: 1, reply: func(*world, request) *mongotest.Reply {
			return mongotest.NewReply(d("writeConcernError", bson.D{e("code", 64), e("errmsg", "it has timed out")}))
		}},
		"its time is over": {number: 1, more: []bson.E{e("maxTimeMS", 5000)}, sent: 1, known: 1, code: 50, took: 5 * time.Second, reply: func(*world, request) *mongotest.Reply {
			<-time.After(time.Minute)
			return lost
		}},
		"another transaction": {number: 2, code: 251, known: 1, reply: func(_ *world, r request) *mongotest.Reply {
			if r.ofBegin {
				return refused(91, "RetryableWriteError")
			}
			return refused(251)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inShardedWorld(t, func(w *world) {
				client := w.dial()
				at, token := w.begin(client)
				var sent atomic.Int64
				w.atMongos("commitTransaction", func(r *mongotest.Request, number int64, next mongotest.Handler) *mongotest.Reply {
					sent.Store(number)
					return c.reply(w, request{r, r.Mongos == at, number, next})
				})
				began := time.Now()
				fields := transaction(1) // the session is the same
				fields[1].Value = c.number
				reply, err := client.ask(append(append(command("commitTransaction", 1, fields...), token), c.more...), "admin")
				if err != nil {
					w.Fatal(err)
				}
				code, _ := reply.Lookup("code").AsInt64OK()
				if code != c.code || c.sent != 0 && sent.Load() != c.sent || time.Since(began).Truncate(time.Second) != c.took {
					w.Errorf("%d attempts in %v: %v", sent.Load(), time.Since(began), reply)
				}
				if n := w.router.Transactions(); n != c.known {
					w.Errorf("the mongos of %d transactions is known, want %d", n, c.known)
				}
			})
		})
	}
}

// A mongos has a transaction also if its first statement fails, of whatever error the client is told.
func TestATransactionWhoseFirstStatementFails(t *testing.T) {
	for _, code := range []int32{64, 91} {
		inShardedWorld(t, func(w *world) {
			w.atMongos("insert", func(*mongotest.Request, int64, mongotest.Handler) *mongotest.Reply {
				return mongotest.NewReply(bson.D{e("n", 0), e("writeErrors", bson.A{bson.D{e("index", 0), e("code", code), e("errmsg", "no")}})})
			})
			reply := w.dial().run(command("insert", "c", e("documents", bson.A{d("_id", 1)})), transaction(1, e("startTransaction", true))...)
			if n := w.router.Transactions(); n != 1 {
				w.Errorf("the mongos of %d transactions is known: %v", n, reply)
			}
		})
	}
}

// A client that leaves while it commits says nothing of the mongos.
func TestAClientThatLeavesWhileItCommits(t *testing.T) {
	inShardedWorld(t, func(w *world) {
		client := w.dial()
		client.must(d("count", "c")) // no mongos has that for ever
		_, token := w.begin(client)
		w.set.Use("commitTransaction", mongotest.Always(mongotest.Fault{Delay: time.Hour}))
		client.send(append(command("commitTransaction", 1, transaction(1)...), token))
		<-time.After(time.Second)
		_ = client.conn.Close()
		<-time.After(time.Minute)
		if n := w.router.Transactions(); n != 1 || w.router.Clients() != 0 {
			w.Errorf("the mongos of %d transactions is known, %d clients are connected", n, w.router.Clients())
		}
	})
}

// A commit that no server can get waits for one, as other operations do, and no longer.
func TestACommitWaitsForAServerOnce(t *testing.T) {
	inShardedWorld(t, func(w *world) {
		client := w.dial()
		_, token := w.begin(client)
		for i := range 3 {
			w.set.KillMongos(i)
		}
		w.pass(30 * time.Second)
		began := time.Now()
		reply, err := client.ask(append(command("commitTransaction", 1, transaction(2)...), token), "admin")
		if code, _ := reply.Lookup("code").AsInt64OK(); err != nil || code != 133 || time.Since(began) != 20*time.Second {
			w.Errorf("after %v: %v, %v", time.Since(began), reply, err)
		}
	})
}

// In a replica set the primary has all transactions, and another one answers a commit that it has seen.
func TestACommitGoesToTheNewPrimary(t *testing.T) {
	inWorld(t, func(w *world) {
		client := w.dial()
		client.must(command("insert", "c", e("documents", bson.A{d("_id", 1)})), transaction(1, e("startTransaction", true))...)
		client.endTransaction("commitTransaction", 1)
		if err := w.set.StepDown(); err != nil {
			w.Fatal(err)
		}
		w.pass(30 * time.Second)
		client.endTransaction("commitTransaction", 1)
	})
}

// Without its recovery token another mongos knows nothing of a transaction: the outcome of the commit stays open.
func TestACommitWithoutARecoveryTokenStaysWhereItIs(t *testing.T) {
	inShardedWorld(t, func(w *world) {
		c := w.dial()
		at, _ := w.begin(c)
		w.set.Use("commitTransaction", mongotest.FaultOnce(mongotest.Fault{After: func() { w.set.KillMongos(at) }}))
		reply, err := c.ask(command("commitTransaction", 1, transaction(1)...), "admin")
		label, _ := reply.Lookup("errorLabels", "0").StringValueOK()
		if err != nil || codeIn(reply) != 6 || label != "RetryableWriteError" {
			w.Errorf("%v, %v", reply, err)
		}
		if n := c.run(d("count", "c")).Lookup("n").AsInt64(); n != 1 {
			w.Errorf("%d documents, want 1", n)
		}
	})
}
