package router_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/router"
)

// In the second half of the quiesce the router ends each load-balanced connection between two operations, but none that has a cursor or a
// transaction open, and none that comes then.
func TestLoadBalancedConnectionsEndBetweenOperations(t *testing.T) {
	const quiesce = 10 * time.Second
	inWorld(t, func(w *world) {
		balanced := func() *wireClient {
			c := w.dial()
			c.must(d("hello", 1), e("loadBalanced", true))
			return c
		}
		balanced().must(command("insert", "c", e("documents", bson.A{d("_id", 1), d("_id", 2), d("_id", 3)})))
		resting, reading, killing, inTransaction, committed := balanced(), balanced(), balanced(), balanced(), balanced()
		open := func(c *wireClient) int64 {
			return c.run(command("find", "c", e("batchSize", 1))).Lookup("cursor", "id").Int64()
		}
		read, killed := open(reading), open(killing)
		inTransaction.must(command("insert", "c", e("documents", bson.A{d("_id", 4)})), transaction(1, e("startTransaction", true))...)
		committed.must(command("insert", "c", e("documents", bson.A{d("_id", 5)})), transaction(2, e("startTransaction", true))...)
		committed.endTransaction("commitTransaction", 2)

		go w.router.Shutdown(w.Context())
		<-time.After(quiesce/2 - time.Second)
		resting.must(d("count", "c")) // in the first half all stay
		<-time.After(2 * time.Second)
		for name, c := range map[string]*wireClient{"one that rests": resting, "one that has committed": committed} {
			if !c.ended() {
				w.Errorf("%s was not ended", name)
			}
		}
		late := balanced()
		late.must(d("count", "c"))
		reading.must(d("getMore", read), e("collection", "c"), e("batchSize", 1))
		reading.must(d("getMore", read), e("collection", "c")) // its last batch
		killing.must(command("killCursors", "c", e("cursors", bson.A{killed})))
		inTransaction.must(command("find", "c"), transaction(1)...)
		inTransaction.endTransaction("abortTransaction", 1)
		for name, c := range map[string]*wireClient{"the reader": reading, "who kills its cursor": killing, "who aborts": inTransaction} {
			if !c.ended() {
				w.Errorf("%s was not ended when it had nothing open", name)
			}
		}
		late.must(d("count", "c"))
	}, func(c *router.Config) { c.Quiesce = quiesce })
}

// transaction returns the fields of a command in a transaction, whose number is also the session's.
func transaction(number int64, more ...bson.E) []bson.E {
	id := bson.Binary{Subtype: 4, Data: make([]byte, 16)}
	id.Data[0] = byte(number)
	return append([]bson.E{e("lsid", d("id", id)), e("txnNumber", number), e("autocommit", false)}, more...)
}

// endTransaction runs a command that is one of the database admin.
func (c *wireClient) endTransaction(name string, number int64) {
	c.w.Helper()
	document, err := bson.Marshal(append(command(name, 1, transaction(number)...), e("$db", "admin")))
	if err != nil {
		c.w.Fatal(err)
	}
	if reply, err := c.try(document); err != nil || reply.Lookup("ok").AsFloat64() != 1 {
		c.w.Fatalf("%s: %v, %v", name, reply, err)
	}
}

// ended reports whether the router has ended the connection, or does so within a second.
func (c *wireClient) ended() bool {
	_ = c.conn.SetReadDeadline(time.Now().Add(time.Second))
	_, err := c.receive()
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// A connection that is being made when the others have to go is made, and serves: some drivers show the error of a handshake to the application.
func TestALoginIsNotEndedInItsMiddle(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		greeted, begun := w.dial(), w.dial()
		for _, c := range []*wireClient{greeted, begun} {
			c.must(d("hello", 1), e("loadBalanced", true))
		}
		go w.router.Shutdown(w.Context())
		<-time.After(7 * time.Second)
		login := begun.begin("ann", "ann's")
		<-time.After(time.Second) // half of the quiesce has passed
		if o := login.prove(); o.OK != 1 {
			w.Errorf("a login is answered with %+v", o)
		}
		begun.must(saslContinue(1, []byte{}))
		begun.must(d("count", "c"))
		greeted.must(d("ping", 1))
	})
}
