package router_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/mongotest"
)

// A commit is applied, its reply is lost, and no member answers the router's next attempts, nor those of the driver: the application is told that
// nobody knows whether the transaction was committed.
func TestACommitThatMayBeAppliedIsOfUnknownOutcome(t *testing.T) {
	for name, after := range map[string]mongotest.Fault{
		"no member answers":        {LoseReply: true},
		"the members are starting": {Error: &mongotest.CommandError{Code: 11600, Labels: []string{"RetryableWriteError"}}},
	} {
		inWorld(t, func(w *world) {
			c := w.collection()
			session, err := c.Database().Client().StartSession()
			if err != nil {
				w.Fatal(err)
			}
			defer session.EndSession(context.Background())
			ctx := mongo.NewSessionContext(w.Context(), session)
			if err := session.StartTransaction(); err != nil {
				w.Fatal(err)
			}
			if _, err := c.InsertOne(ctx, bson.D{}); err != nil {
				w.Fatal(err)
			}
			w.set.Use("commitTransaction", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
			var sent atomic.Int64
			w.set.Use("commitTransaction", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				if sent.Add(1) == 1 {
					return next(r)
				}
				return mongotest.Always(after)(r, next)
			})
			var e mongo.CommandError
			if err := session.CommitTransaction(ctx); !errors.As(err, &e) || !e.HasErrorLabel("UnknownTransactionCommitResult") {
				w.Errorf("%s: %v, with the labels %q", name, err, e.Labels)
			}
		})
	}
}
