package router_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The cluster time goes both ways: a client learns that of the members from each reply, the router's own included, and a client that has a later one
// gives it to the member that gets its command.
func TestTheClusterTimeIsGossiped(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.dial()
		c.must(bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{d("_id", 1)}}})
		for _, command := range []string{"hello", "ping", "isdbgrid"} {
			if reply := c.run(d(command, 1)); reply.Lookup("$clusterTime", "clusterTime").Type != bson.TypeTimestamp {
				w.Errorf("%s: there is no $clusterTime in %v", command, reply)
			}
		}
		sent := make(chan uint32, 2)
		w.set.Use("count", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			seconds, _ := r.Body.Lookup("$clusterTime", "clusterTime").Timestamp()
			sent <- seconds
			return next(r)
		})
		now, _ := c.run(d("ping", 1)).Lookup("$clusterTime", "clusterTime").Timestamp()
		later := bson.D{{Key: "clusterTime", Value: bson.Timestamp{T: now + 3600}}}
		c.must(d("count", "c"), bson.E{Key: "$clusterTime", Value: later})
		if got := <-sent; got != now+3600 {
			w.Errorf("the member got %d, the client sent %d", got, now+3600)
		}
	})
}

// No member gets to see the cluster time of a client, so the router refuses what is none, with the codes of a server.
func TestAClusterTimeIsADocumentWithATimestamp(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, c := range []struct {
			value any
			code  int32
		}{
			{1, 14},
			{bson.A{}, 14},
			{d("clusterTime", 1), 14},
			{d("clusterTime", bson.D{}), 14},
			{bson.D{}, 40414},
			{d("x", 1), 40414},
			{d("clusterTime", nil), 40414},
			{nil, 0},
			{d("clusterTime", bson.Timestamp{T: 1}), 0},
		} {
			for _, command := range []string{"count", "ping"} {
				if o := w.dial().outcomeOf(d(command, "c"), bson.E{Key: "$clusterTime", Value: c.value}); o.Code != c.code {
					w.Errorf("%s with $clusterTime %v: %+v, want %d", command, c.value, o, c.code)
				}
			}
		}
	})
}
