package mongo_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongo"
)

func TestAllPrimaryOperationsOfARequestUseOneConnection(t *testing.T) {
	in(t, nil, func(w *world) {
		w.discovered()
		ctx, primary := w.request(), w.set.Primary()
		var inside sync.WaitGroup
		for i := range 20 { // operations without a request change the order of the pool
			inside.Go(func() { w.must(readOne(w.ctx, w.coll)) })
			inside.Go(func() {
				_, err := w.coll.InsertOne(ctx, doc("n", i))
				w.must(err)
				w.must(readOne(ctx, w.with(readpref.Secondary())))
				w.must(readOne(ctx, w.coll))
				cursor, err := w.coll.Find(ctx, doc(), options.Find().SetBatchSize(1))
				w.must(err)
				cursor.Next(ctx)
				w.must(cursor.Close(ctx))
			})
		}
		inside.Wait()
		conns := make(map[int64]bool)
		for _, j := range w.set.Journal() {
			if j.Member == primary && (j.Command == "insert" || j.Command == "getMore") && j.Seq > 1 {
				conns[j.ConnID] = true
			}
		}
		if len(conns) != 1 {
			t.Errorf("the request used %d connections", len(conns))
		}
	})
}

func TestAConnectionOfARequestThatBrokeIsReplaced(t *testing.T) {
	in(t, nil, func(w *world) {
		w.discovered()
		ctx := w.request()
		_, err := w.coll.InsertOne(ctx, doc("_id", "before"))
		w.must(err)
		w.script("insert", loseReply)
		_, err = w.coll.InsertOne(ctx, doc("_id", "lost"))
		w.must(err)
		w.must(w.set.StepDown())
		_, err = w.coll.InsertOne(ctx, doc("_id", "after"))
		w.must(err)
		w.set.CheckCount(t, "test.c", 4)
	})
}

// Connection Monitoring and Pooling, "Checking Out a Connection": a connection from before the pool was cleared is not used again. The
// connection that a request keeps has not failed itself.
func TestAConnectionOfARequestIsReplacedAfterItsPoolWasCleared(t *testing.T) {
	in(t, nil, func(w *world) {
		w.discovered()
		ctx := w.request()
		w.must(insertOne(ctx, w.coll))
		w.must(insertOne(ctx, w.coll))
		w.script("find", loseReply)
		w.must(readOne(w.ctx, w.coll)) // on another connection
		w.must(insertOne(ctx, w.coll))
		var used []string
		for _, ev := range w.started("insert") {
			used = append(used, ev.ConnectionID)
		}
		if len(used) != 3 || used[0] != used[1] || used[2] == used[1] {
			t.Errorf("the connections are %v", used)
		}
	})
}

func TestTheEndOfARequestReturnsItsConnection(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(parent, request context.CancelFunc)
	}{
		{"by cancel", func(_, request context.CancelFunc) { request() }},
		{"by its parent", func(parent, _ context.CancelFunc) { parent() }},
		{"twice", func(_, request context.CancelFunc) { request(); request() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(o *options.ClientOptions) { o.SetMaxPoolSize(1) }, func(w *world) {
				w.discovered()
				parent, endParent := context.WithCancel(w.ctx)
				defer endParent()
				ctx, end := mongo.WithRequest(parent)
				defer end()
				_, err := w.coll.InsertOne(ctx, doc("n", 1))
				w.must(err)
				c.end(endParent, end)
				synctest.Wait()
				w.must(readOne(w.ctx, w.coll))
				if err := readOne(ctx, w.coll); err == nil {
					t.Error("an operation with the context of an ended request succeeded")
				}
				out := 0
				for _, ev := range w.pool {
					switch ev.Type {
					case event.ConnectionCheckedOut:
						out++
					case event.ConnectionCheckedIn:
						out--
					}
				}
				if out != 0 {
					t.Errorf("%d connections are checked out", out)
				}
			})
		})
	}
}

// "All primary operations of a request share one socket": one of the primary of now.
func TestTheConnectionOfARequestIsOneToTheNewPrimary(t *testing.T) {
	in(t, nil, func(w *world) {
		w.discovered()
		ctx := w.request()
		w.must(insertOne(ctx, w.coll))
		w.must(w.set.StepDown())
		if _, err := w.set.WaitPrimary(w.ctx); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Minute)
		w.forget()
		w.must(insertOne(ctx, w.coll))
		if n := len(w.started("insert")); n != 1 {
			t.Errorf("%d inserts were sent", n)
		}
	})
}
