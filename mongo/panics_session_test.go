package mongo_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// Driver Sessions, "Server Session Pool": a session in which a network error happened is not used again, because the server may
// still run its operation. A panic of the application's connection is such an error.
func TestASessionWhoseConnectionPanickedIsNotUsedAgain(t *testing.T) {
	for place, reused := range map[string]bool{"Write": false, "Read": false, "CommandStarted": true, "CommandSucceeded": true} {
		t.Run(place, func(t *testing.T) {
			c := panicCase{run: one, do: func(v *victim, ctx context.Context) error {
				var mu sync.Mutex
				sessions := map[string]string{} // by the comment of the insert; a message may come late on the broken connection
				defer v.set.Use("insert", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
					mu.Lock()
					sessions[r.Body.Lookup("comment").StringValue()] = r.LSID.String()
					mu.Unlock()
					return next(r)
				})()
				insert := func(comment string) error {
					_, err := v.coll.InsertOne(ctx, doc("x", 1), options.InsertOne().SetComment(comment))
					return err
				}
				if err := insert("first"); err != nil {
					return err
				}
				v.trap.set(place, func() { _ = insert("panics") })
				if err := insert("last"); err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				if first, last := sessions["first"], sessions["last"]; first == "" || last == "" || (first == last) != reused {
					return fmt.Errorf("the sessions are %v", sessions)
				}
				return nil
			}}
			c.survive(t)
		})
	}
}
