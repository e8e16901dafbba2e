package router_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// bodies returns the bodies of the messages of a command that members get from now on.
func (w *world) bodies(command string) <-chan bson.Raw {
	all := make(chan bson.Raw, 10)
	w.set.Use(command, func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		all <- append(bson.Raw(nil), r.Body...)
		return next(r)
	})
	return all
}

// A client's cluster time goes on if it is later than what the router knows.
func TestTheClusterTimeOfAClientGoesOn(t *testing.T) {
	inWorld(t, func(w *world) {
		got := w.bodies("count")
		w.dial().run(d("count", "c"), bson.E{Key: "$clusterTime", Value: d("clusterTime", bson.Timestamp{T: 1 << 31})})
		if at, _, ok := (<-got).Lookup("$clusterTime", "clusterTime").TimestampOK(); !ok || at != 1<<31 {
			w.Errorf("the member got %d", at)
		}
	})
}

// A write goes under a session and a number of the router's, but not to a server reached directly, which may have no sessions.
func TestTheSessionOfAWrite(t *testing.T) {
	insert := bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{bson.D{}}}}
	inWorld(t, func(w *world) {
		got := w.bodies("insert")
		w.dial().must(insert)
		if body := <-got; body.Lookup("lsid").Type == 0 || body.Lookup("txnNumber").Type == 0 {
			w.Errorf("the primary got %v", body)
		}
		w.router.Close()
		uri := "mongodb://" + w.set.Addr(w.set.Primary()) + "/?directConnection=true"
		r := w.start(address, router.Config{Upstream: options.Client().ApplyURI(uri).SetDialer(w.set.Dialer())})
		defer r.Close()
		c := w.dial()
		c.must(d("count", "c"))
		c.must(insert)
		if body := <-got; body.Lookup("lsid").Type != 0 || body.Lookup("txnNumber").Type != 0 {
			w.Errorf("a server reached directly got %v", body)
		}
	})
}
