package mongo_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// An insert behind a slow find whose context ended does not wait for the find's reply, on a pool of one connection.
func TestAnInsertDoesNotWaitForACancelledFind(t *testing.T) {
	worst := time.Duration(0)
	in(t, func(o *options.ClientOptions) { o.SetMaxPoolSize(1) }, func(w *world) {
		w.seed()
		w.heal = w.set.Use("find", mongotest.Always(mongotest.Fault{Delay: 5 * time.Second}))
		for i := range 100 {
			ctx, cancel := context.WithTimeout(w.ctx, 50*time.Millisecond)
			if err := w.coll.FindOne(ctx, doc("_id", 1)).Err(); err == nil {
				t.Error("the find has succeeded")
			}
			cancel()
			w.pass(time.Duration(i) * 30 * time.Millisecond)
			began := time.Now()
			_, err := w.coll.InsertOne(w.ctx, doc("n", i))
			w.must(err)
			worst = max(worst, time.Since(began))
		}
	}, mongotest.Latency(latency, latency))
	if worst > 10*time.Millisecond {
		t.Errorf("an insert took %v", worst)
	}
	fmt.Printf("figure cancelled-find-next-insert-ms %.1f\n", worst.Seconds()*1000)
}
