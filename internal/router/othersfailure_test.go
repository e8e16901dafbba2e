package router_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// An operation that finds the pool cleared by another one's failure has no error of that: no maxTimeMS of its own has passed when no connection could be
// made in time, so change streams go on elsewhere.
func TestAPoolThatWasClearedByATimeout(t *testing.T) {
	inWorld(t, func(w *world) {
		replies := make(chan bson.Raw, 10)
		for range cap(replies) {
			c := w.dial()
			id := c.run(changeStream).Lookup("cursor", "id").AsInt64()
			go func() { replies <- c.run(command("getMore", id, e("collection", "c"), e("maxTimeMS", 3_600_000))) }()
		}
		<-time.After(time.Millisecond)
		w.set.Isolate(w.set.Primary())
		for range cap(replies) {
			reply := <-replies
			label, _ := reply.Lookup("errorLabels", "0").StringValueOK()
			if codeIn(reply) != 6 || label != "ResumableChangeStreamError" {
				w.Errorf("%v", reply)
			}
		}
	}, poolOf(4))
}

// When the password of the router's own user has changed, nobody can log in any more. Those who have go on working.
func TestUsersWorkWithoutTheRoutersOwn(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		c := w.asUser("ann", "ann's")
		c.must(command("insert", "c", e("documents", bson.A{d("_id", 1), d("_id", 2)})))
		if _, err := w.set.Command(w.set.Primary(), "admin", bson.D{{Key: "updateUser", Value: "service"}, {Key: "pwd", Value: "later"}}); err != nil {
			w.Fatal(err)
		}
		w.set.DropConnections(w.set.Primary())
		<-time.After(20 * time.Second) // the router tries to make its own connections
		for range 5 {
			began := time.Now()
			id := c.run(command("find", "c", e("batchSize", 1))).Lookup("cursor", "id").AsInt64()
			c.must(command("getMore", id, e("collection", "c")))
			if took := time.Since(began); took > 0 {
				w.Errorf("a find and a getMore took %v", took)
			}
			<-time.After(time.Second)
		}
	})
}
