package router_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// inShardedWorld runs f with a router in front of three mongos.
func inShardedWorld(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, set: mongotest.RunShardedT(t, 3, 3, mongotest.InMemory()), network: memnet.New(memnet.Config{})}
		w.router = w.start(address, router.Config{Upstream: w.upstream()})
		defer w.router.Close()
		f(w)
	})
}

// Each statement of a transaction, and each batch of a cursor, goes to the mongos that has it.
func TestTransactionsAndCursorsBehindSeveralMongos(t *testing.T) {
	inShardedWorld(t, func(w *world) {
		c := w.connect()
		collection := c.Database("app").Collection("c")
		for i := range 20 {
			err := c.UseSession(w.Context(), func(ctx context.Context) error {
				_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
					for j := range 5 {
						if _, err := collection.InsertOne(ctx, d("_id", i*5+j)); err != nil {
							w.Errorf("statement %d of transaction %d: %v", j, i, err)
							return nil, err
						}
					}
					found, err := collection.Find(ctx, bson.D{}, options.Find().SetBatchSize(7))
					if err != nil {
						return nil, err
					}
					var all []bson.D
					if err := found.All(ctx, &all); err != nil || len(all) != 5*i+5 {
						w.Errorf("transaction %d sees %d documents, %v", i, len(all), err)
					}
					return nil, nil
				})
				return err
			})
			if err != nil {
				w.Fatal(err)
			}
		}
		if n, err := collection.CountDocuments(w.Context(), bson.D{}); err != nil || n != 100 {
			w.Errorf("%d documents, %v", n, err)
		}
	})
}

// The mongos of a transaction dies. Its statements fail, so that the program begins again; its end is done by another mongos, once.
func TestTheMongosOfATransactionDies(t *testing.T) {
	lsid := e("lsid", d("id", bson.Binary{Subtype: 4, Data: make([]byte, 16)}))
	for _, end := range []string{"commitTransaction", "abortTransaction", "insert"} {
		t.Run(end, func(t *testing.T) {
			inShardedWorld(t, func(w *world) {
				c := w.dial()
				var at atomic.Int64
				at.Store(-1)
				w.set.Use("insert", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
					if r.Mongos >= 0 {
						at.Store(int64(r.Mongos))
					}
					return next(r)
				})
				within := []bson.E{lsid, e("txnNumber", int64(1)), e("autocommit", false)}
				first := c.run(command("insert", "c", e("documents", bson.A{d("_id", 1)})), append(within, e("startTransaction", true))...)
				token, err := first.LookupErr("recoveryToken")
				if err != nil {
					w.Fatalf("the insert is answered with %v", first)
				}
				kill := func() { w.set.KillMongos(int(at.Load())) }
				if end == "commitTransaction" { // another mongos can only tell what this one has done
					w.set.Use(end, mongotest.FaultOnce(mongotest.Fault{After: kill}))
				} else {
					kill()
				}
				last, db := append(command(end, 1, within...), e("recoveryToken", token)), "admin"
				if end == "insert" {
					last, db = command(end, "c", append(within, e("documents", bson.A{d("_id", 2)}))...), "app"
				}
				reply, err := c.ask(last, db)
				if err != nil {
					w.Fatal(err)
				}
				ok := reply.Lookup("ok").AsFloat64() == 1
				if end == "insert" {
					label, _ := reply.Lookup("errorLabels", "0").StringValueOK()
					if ok || label != "TransientTransactionError" {
						w.Errorf("a statement after that: %v", reply)
					}
					return
				}
				if end == "commitTransaction" && !ok {
					w.Errorf("the commit: %v", reply)
				}
				n := c.run(d("count", "c")).Lookup("n").AsInt64()
				if want := map[string]int64{"commitTransaction": 1}[end]; n != want {
					w.Errorf("after %s there are %d documents, want %d: %v", end, n, want, reply)
				}
			})
		})
	}
}
