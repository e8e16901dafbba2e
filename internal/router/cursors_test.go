package router_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/router"
)

// A cursor that one router has opened at a secondary is read, and ended, through another one, which knows nothing of it.
func TestAnyRouterContinuesACursor(t *testing.T) {
	inWorld(t, func(w *world) {
		first, other, end := w.twoRouters()
		defer end()
		opened := func() int64 {
			reply := first.run(bson.D{{Key: "find", Value: "c"}, {Key: "batchSize", Value: 10}, {Key: "$readPreference", Value: d("mode", "secondary")}})
			id, ok := reply.Lookup("cursor", "id").AsInt64OK()
			if !ok || id == 0 {
				w.Fatalf("the find is answered with %v", reply)
			}
			return id
		}
		cursor := opened()
		more := other.run(bson.D{{Key: "getMore", Value: cursor}, {Key: "collection", Value: "c"}})
		if batch, _ := more.Lookup("cursor", "nextBatch").Array().Values(); len(batch) != 90 {
			w.Errorf("getMore is answered with %v", more)
		}
		before := len(w.answered("getMore"))
		other.run(bson.D{{Key: "getMore", Value: cursor}, {Key: "collection", Value: "c"}})
		if n := len(w.answered("getMore")) - before; n != 3 {
			w.Errorf("a cursor that has ended is looked for at %d members", n)
		}
		known := opened()
		first.run(d("buildInfo", known)) // says nothing of a cursor
		before = len(w.answered("getMore"))
		first.run(bson.D{{Key: "getMore", Value: known}, {Key: "collection", Value: "c"}})
		if n := len(w.answered("getMore")) - before; n != 1 {
			w.Errorf("a cursor whose member is known is looked for at %d members", n)
		}
		id := opened()
		killed := other.run(bson.D{{Key: "killCursors", Value: "c"}, {Key: "cursors", Value: bson.A{id, int64(7)}}})
		if got := killed.Lookup("cursorsKilled", "0").Int64(); got != id || killed.Lookup("cursorsNotFound", "0").Int64() != 7 {
			w.Errorf("killCursors is answered with %v", killed)
		}
		missing := other.run(bson.D{{Key: "getMore", Value: int64(7)}, {Key: "collection", Value: "c"}})
		if code := missing.Lookup("code").Int32(); code != 43 {
			w.Errorf("a cursor that no member has: %v", missing)
		}
	})
}

// twoRouters stores 100 documents at each member, and returns connections to the router and to a second one, which end ends.
func (w *world) twoRouters() (first, other *wireClient, end func()) {
	w.Helper()
	w.fill(100)
	if err := w.set.WaitIdle(w.Context()); err != nil {
		w.Fatal(err)
	}
	second := w.startAt("second:27017")
	return w.dial(), w.dialTo("second:27017"), second.Close
}

// startAt starts a second router in front of the same members.
func (w *world) startAt(address string) *router.Router {
	w.Helper()
	return w.start(address, router.Config{Upstream: w.upstream()})
}
