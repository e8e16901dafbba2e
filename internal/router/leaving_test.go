package router_test

import (
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// What a driver sends when it ends cursors and sessions does not wait for a primary: its application waits for it, and a mongos answers
// at once. endSessions goes to the primary if there is one, else to a secondary (Driver Sessions, "endSessions").
func TestLeavingDoesNotWaitForAPrimary(t *testing.T) {
	sessions := command("endSessions", bson.A{d("id", bson.Binary{Subtype: 4, Data: make([]byte, 16)})})
	inWorldOf(t, memnet.Config{}, []mongotest.Option{mongotest.ElectionTimeout(time.Hour)}, func(w *world) {
		var asked atomic.Int64
		w.set.Use("endSessions", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			asked.Store(int64(r.Member))
			return next(r)
		})
		c := w.dial()
		c.must(command("insert", "c", e("documents", bson.A{d("_id", 1), d("_id", 2)}))) // the router knows the primary then
		for range 10 {
			if c.must(sessions); int(asked.Load()) != w.set.Primary() {
				w.Errorf("endSessions went to member %d, the primary is %d", asked.Load(), w.set.Primary())
			}
		}
		id := c.run(command("find", "c", e("batchSize", 1))).Lookup("cursor", "id").Int64()
		w.set.Kill(w.set.Primary())
		w.pass(15 * time.Second)
		began := time.Now()
		c.must(sessions)
		if waited := time.Since(began); waited > time.Second {
			w.Errorf("endSessions took %v", waited)
		}
		began = time.Now()
		c.run(command("killCursors", "c", e("cursors", bson.A{id})))
		if waited := time.Since(began); waited > time.Second {
			w.Errorf("killCursors took %v", waited)
		}
	}, func(c *router.Config) { c.Window = time.Minute })
}
