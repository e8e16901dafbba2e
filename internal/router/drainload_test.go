package router_test

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// loader is a driver that operates on the collection app.c.
type loader struct {
	name                              string
	insert, update, find, transaction func(ctx context.Context, id string) error
	cursor                            func(context.Context) error // reads several batches
	close                             func()
}

var (
	increment  = d("$inc", d("n", 1))
	threeParts = options.Find().SetBatchSize(seeded / 3)
)

// seeded is the number of documents in a collection that is read whole.
const (
	seeded   = 12
	seededIn = "seeded"
)

func (w *world) officialLoader(name string, o *options.ClientOptions) loader {
	w.Helper()
	client, err := official.Connect(o)
	if err != nil {
		w.Fatal(err)
	}
	c := client.Database("app").Collection("c")
	insert := func(ctx context.Context, id string) error {
		_, err := c.InsertOne(ctx, d("_id", id))
		return err
	}
	update := func(ctx context.Context, id string) error {
		_, err := c.UpdateOne(ctx, d("_id", id), increment)
		return err
	}
	return loader{
		name: name, insert: insert, update: update,
		find: func(ctx context.Context, id string) error { return c.FindOne(ctx, d("_id", id)).Err() },
		transaction: func(ctx context.Context, id string) error {
			return client.UseSession(ctx, func(ctx context.Context) error {
				_, err := official.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
					if err := insert(ctx, id+" by a transaction"); err != nil {
						return nil, err
					}
					return nil, update(ctx, id)
				})
				return err
			})
		},
		cursor: func(ctx context.Context) error {
			found, err := client.Database("app").Collection(seededIn).Find(ctx, bson.D{}, threeParts)
			if err != nil {
				return err
			}
			var all []bson.D
			return found.All(ctx, &all)
		},
		close: func() { _ = client.Disconnect(context.Background()) },
	}
}

func (w *world) ourLoader(name string, o *options.ClientOptions) loader {
	w.Helper()
	client, err := mongo.Connect(o)
	if err != nil {
		w.Fatal(err)
	}
	c := client.Database("app").Collection("c")
	insert := func(ctx context.Context, id string) error {
		_, err := c.InsertOne(ctx, d("_id", id))
		return err
	}
	update := func(ctx context.Context, id string) error {
		_, err := c.UpdateOne(ctx, d("_id", id), increment)
		return err
	}
	return loader{
		name: name, insert: insert, update: update,
		find: func(ctx context.Context, id string) error { return c.FindOne(ctx, d("_id", id)).Err() },
		transaction: func(ctx context.Context, id string) error {
			return client.UseSession(ctx, func(ctx context.Context) error {
				_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
					if err := insert(ctx, id+" by a transaction"); err != nil {
						return nil, err
					}
					return nil, update(ctx, id)
				})
				return err
			})
		},
		cursor: func(ctx context.Context) error {
			found, err := client.Database("app").Collection(seededIn).Find(ctx, bson.D{}, threeParts)
			if err != nil {
				return err
			}
			var all []bson.D
			return found.All(ctx, &all)
		},
		close: func() { _ = client.Disconnect(context.Background()) },
	}
}
