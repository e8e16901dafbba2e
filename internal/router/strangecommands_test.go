package router_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// Commands that no driver sends get an answer, and the connection goes on.
func TestStrangeCommandsAreAnswered(t *testing.T) {
	inWorld(t, func(w *world) {
		if err := w.set.Insert("app.c", d("_id", 1)); err != nil {
			w.Fatal(err)
		}
		c := w.dial()
		for _, command := range []bson.D{
			d("", 1), d("$db", "app"), d("lsid", 1), d("$readPreference", 1), d("noSuchCommand", bson.A{}),
			{{Key: "$db", Value: "app"}, {Key: "find", Value: "c"}},
			{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: 7}},
			{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{1, bson.D{}}}},
			{{Key: "update", Value: "c"}, {Key: "updates", Value: bson.A{"x", 1}}},
			{{Key: "delete", Value: "c"}, {Key: "deletes", Value: bson.D{}}},
			{{Key: "insert", Value: 1}, {Key: "writeConcern", Value: 1}},
			{{Key: "find", Value: "c"}, {Key: "$readPreference", Value: d("mode", 1)}},
			{{Key: "find", Value: "c"}, {Key: "$db", Value: 3}},
			{{Key: "getMore", Value: "x"}, {Key: "collection", Value: "c"}},
			{{Key: "getMore", Value: int64(0)}, {Key: "collection", Value: 1}},
			{{Key: "killCursors", Value: "c"}, {Key: "cursors", Value: 1}},
			{{Key: "killCursors", Value: "c"}, {Key: "cursors", Value: bson.A{"x"}}},
		} {
			if o := c.outcomeOf(command); o.Code == 0 && o.OK != 1 {
				w.Errorf("%v: %+v", command, o)
			}
		}
		c.must(d("ping", 1))
	})
}

// The first element names the command: one that the router would leave out must not give its place to the next.
func TestAnElementThatIsLeftOutIsNotTheName(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, first := range []string{"$db", "$clusterTime"} {
			if o := w.dial().outcomeOf(bson.D{{Key: first, Value: "app"}, {Key: "drop", Value: "c"}}); o.OK == 1 {
				w.Errorf("%s before drop: %+v", first, o)
			}
		}
		if n := len(w.answered("drop")); n != 0 {
			w.Errorf("%d drops came to a member", n)
		}
	})
}

// A server judges a maxTimeMS that is out of range. One whose nanoseconds overflow must not end the operation at once.
func TestMaxTimesThatOverflow(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, ms := range []int64{-1, 18446744073710, 1 << 62, -1 << 63} {
			if o := w.dial().outcomeOf(bson.D{{Key: "count", Value: "c"}, {Key: "maxTimeMS", Value: ms}}); o.Code == 50 {
				w.Errorf("%d: %+v", ms, o)
			}
		}
		got := make(chan bson.RawValue, 2)
		w.set.Use("count", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			got <- r.Body.Lookup("maxTimeMS")
			return next(r)
		})
		w.set.Use("count", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
		w.dial().outcomeOf(bson.D{{Key: "count", Value: "c"}, {Key: "maxTimeMS", Value: int64(1 << 40)}})
		<-got
		if again := <-got; again.AsInt64() != 1<<40 {
			w.Errorf("the second attempt had %v", again)
		}
	})
}

// An update is one of many unless its field multi says no, in each type that servers take.
func TestUpdatesOfManyAreNotRepeated(t *testing.T) {
	one, err := bson.ParseDecimal128("1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		multi any
		sent  int
	}{{true, 1}, {1, 1}, {0.5, 1}, {one, 1}, {false, 2}, {0, 2}, {0.0, 2}} {
		inWorld(t, func(w *world) {
			w.set.Use("update", mongotest.FaultOnce(mongotest.Fault{LoseRequest: true}))
			update := bson.D{{Key: "q", Value: bson.D{}}, {Key: "u", Value: d("$set", d("a", 1))}, {Key: "multi", Value: c.multi}}
			w.dial().outcomeOf(bson.D{{Key: "update", Value: "c"}, {Key: "updates", Value: bson.A{update}}})
			if n := len(w.answered("update")); n != c.sent {
				w.Errorf("multi %v: sent %d times, want %d", c.multi, n, c.sent)
			}
		})
	}
}
