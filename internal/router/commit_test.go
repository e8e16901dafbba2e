package router_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/router"
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

// A client may have sent its commit before, and lost the connection: no error of the router's own says that it was not done.
func TestACommitThatNoMemberAnswersIsOfUnknownOutcome(t *testing.T) {
	lsid := e("lsid", d("id", bson.Binary{Subtype: 4, Data: make([]byte, 16)}))
	commit := command("commitTransaction", 1, lsid, e("txnNumber", int64(1)), e("autocommit", false))
	for name, c := range map[string]struct {
		code   int64
		change func(*router.Config)
		before func(*world)
	}{
		"no member takes writes": {133, poolOf(10), func(w *world) { w.withoutPrimary() }},
		"one too many waits":     {462, func(cfg *router.Config) { cfg.WaitingBytes = 1 }, func(w *world) { w.withoutPrimary() }},
		"no connection becomes free": {133, poolOf(1), func(w *world) {
			w.set.Use("count", mongotest.Always(mongotest.Fault{Delay: time.Hour}))
			w.dial().send(d("count", "c"))
			<-time.After(time.Millisecond)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.dial().must(d("ping", 1))
				c.before(w)
				reply, err := w.dial().ask(commit, "admin")
				if err != nil {
					w.Fatal(err)
				}
				var labels []string
				if raw, err := reply.LookupErr("errorLabels"); err == nil {
					_ = raw.Unmarshal(&labels)
				}
				code, _ := reply.Lookup("code").AsInt64OK()
				if code != c.code || !slices.Contains(labels, "RetryableWriteError") || slices.Contains(labels, "NoWritesPerformed") {
					w.Errorf("the commit is answered with %v", reply)
				}
			}, c.change)
		})
	}
}
