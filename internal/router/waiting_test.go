package router_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/router"
)

// neverRetries are the options of a client that cannot retry.
func neverRetries() *options.ClientOptions {
	return options.Client().SetRetryWrites(false).SetRetryReads(false)
}

// withoutPrimary takes two of three members away, and waits until the router knows it.
func (w *world) withoutPrimary() {
	w.Helper()
	primary := w.set.Primary()
	w.set.Kill(primary)
	w.set.Kill((primary + 1) % 3)
	<-time.After(30 * time.Second)
}

func codeOf(err error) int {
	var e mongo.CommandError
	if errors.As(err, &e) {
		return int(e.Code)
	}
	return 0
}

func TestOperationsWaitForAPrimary(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.collection(neverRetries())
		if _, err := c.InsertOne(w.Context(), d("_id", 0)); err != nil {
			w.Fatal(err)
		}
		w.withoutPrimary()
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if _, err := c.InsertOne(w.Context(), d("_id", 1+i)); err != nil {
					w.Errorf("insert %d: %v", i, err)
				}
			})
		}
		<-time.After(5 * time.Second)
		for i := range 3 {
			w.set.Restart(i)
		}
		all.Wait()
		if n := w.router.Waiting(); n != 0 {
			w.Errorf("%d operations wait", n)
		}
		if n, err := c.CountDocuments(w.Context(), bson.D{}); err != nil || n != 21 {
			w.Errorf("%d documents, %v", n, err)
		}
	})
}

func TestTheEndsOfAWait(t *testing.T) {
	few := func(c *router.Config) { c.MostWaiting = 1 }
	for _, c := range []struct {
		name    string
		run     func(w *world, c *mongo.Collection) error
		code    int
		took    time.Duration
		labels  []string
		changes []func(*router.Config)
	}{
		{name: "the window is over", code: 133, took: 20 * time.Second, run: func(w *world, c *mongo.Collection) error {
			return c.Database().RunCommand(w.Context(), bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{d("_id", 9)}}}).Err()
		}},
		{name: "maxTimeMS has passed", code: 50, took: 3 * time.Second, run: func(w *world, c *mongo.Collection) error {
			find := bson.D{{Key: "find", Value: "c"}, {Key: "maxTimeMS", Value: 3000}}
			return c.Database().RunCommand(w.Context(), find).Err()
		}},
		{
			name: "one too many", code: 462, changes: []func(*router.Config){few},
			labels: []string{"SystemOverloadedError", "RetryableError", "NoWritesPerformed"},
			run: func(w *world, c *mongo.Collection) error {
				go c.InsertOne(w.Context(), d("_id", 8))
				synctest.Wait()
				return c.Database().RunCommand(w.Context(), d("count", "c")).Err()
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				// The driver retries what is overloaded: this one may not.
				of := w.collection(neverRetries().SetMaxAdaptiveRetries(0))
				if _, err := of.InsertOne(w.Context(), d("_id", 0)); err != nil {
					w.Fatal(err)
				}
				w.withoutPrimary()
				began := time.Now()
				err := c.run(w, of)
				if took := time.Since(began); codeOf(err) != c.code || took < c.took || took > c.took+time.Second {
					w.Errorf("after %v: %v, want %d after %v", took, err, c.code, c.took)
				}
				var e mongo.CommandError
				errors.As(err, &e)
				for _, l := range c.labels {
					if !e.HasErrorLabel(l) {
						w.Errorf("%v has not the label %s", e.Labels, l)
					}
				}
			}, c.changes...)
		})
	}
}

// A client that leaves while its operation waits takes it along: nothing is sent when there is a primary again.
func TestAClientThatLeavesWhileItWaits(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.collection(neverRetries())
		if _, err := c.InsertOne(w.Context(), d("_id", 0)); err != nil {
			w.Fatal(err)
		}
		w.withoutPrimary()
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		if _, err := c.InsertOne(ctx, d("_id", 1)); err == nil {
			w.Error("it was inserted without a primary")
		}
		_ = c.Database().Client().Disconnect(w.Context())
		for i := range 3 {
			w.set.Restart(i)
		}
		<-time.After(time.Minute)
		w.set.CheckDocuments(w, "app.c", d("_id", 0))
		if n := w.router.Clients(); n != 0 {
			w.Errorf("%d clients are connected", n)
		}
	})
}
