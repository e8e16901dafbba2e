package router_test

import (
	"context"
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
