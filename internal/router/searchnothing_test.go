package router_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/router"
)

// A member that is not there has no cursors: the client gets an error, and never what is left in a buffer.
func TestCursorsWithoutMembers(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.start("second:27017", router.Config{Upstream: w.upstream().SetReplicaSet("another")})
		defer r.Close()
		<-time.After(time.Second)
		for _, command := range []bson.D{
			{{Key: "getMore", Value: int64(5)}, {Key: "collection", Value: "c"}},
			{{Key: "killCursors", Value: "c"}, {Key: "cursors", Value: bson.A{int64(5)}}},
		} {
			if o := w.dialTo("second:27017").outcomeOf(command); o.Code != 6 || !strings.Contains(o.Text, "no member") {
				w.Errorf("%v: %+v", command, o)
			}
		}
	})
}
