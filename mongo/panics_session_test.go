package mongo_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// Driver Sessions, "Server Session Pool": a session in which a network error happened is not used again, because the server may
// still run its operation. A panic of the application's connection is such an error.
func TestASessionWhoseConnectionPanickedIsNotUsedAgain(t *testing.T) {
	for place, reused := range map[string]bool{"Write": false, "Read": false, "CommandStarted": true, "CommandSucceeded": true} {
		t.Run(place, func(t *testing.T) {
			c := panicCase{run: one, do: func(v *victim, ctx context.Context) error {
				var sessions []string
				defer v.set.Use("insert", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
					sessions = append(sessions, r.LSID.String())
					return next(r)
				})()
				if err := v.insert(ctx); err != nil {
					return err
				}
				v.trap.set(place, func() { _ = v.insert(ctx) })
				if err := v.insert(ctx); err != nil {
					return err
				}
				if first, last := sessions[0], sessions[len(sessions)-1]; (first == last) != reused {
					return fmt.Errorf("the sessions are %v", sessions)
				}
				return nil
			}}
			c.survive(t)
		})
	}
}
