// Package lock does the work of a night, which is to archive orders, in one of many processes: the one that has the lock,
// a document that a TTL index removes if its owner dies.
package lock

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/explore/programs/outcome"
)

const (
	tries  = 3
	expiry = time.Hour
)

type night struct{ locks, orders *mongo.Collection }

func open(client *mongo.Client) night {
	db := client.Database("lock")
	return night{db.Collection("locks"), db.Collection("orders")}
}

// Mistake takes a lock that exists for that of another process. It may be its own, of the try before.
func Mistake(ctx context.Context, client *mongo.Client) error {
	lock := bson.D{{Key: "_id", Value: "night"}}
	return open(client).run(ctx, lock, func(locks *mongo.Collection, expires bson.E) error {
		_, err := locks.InsertOne(ctx, append(lock, expires))
		return err
	})
}

// Mended writes its name into the lock, and so knows its own.
func Mended(ctx context.Context, client *mongo.Client) error {
	lock := bson.D{{Key: "_id", Value: "night"}, {Key: "owner", Value: bson.NewObjectID()}}
	return open(client).run(ctx, lock, func(locks *mongo.Collection, expires bson.E) error {
		update := bson.D{{Key: "$set", Value: bson.D{expires}}}
		_, err := locks.UpdateOne(ctx, lock, update, options.UpdateOne().SetUpsert(true))
		return err
	})
}

func (n night) run(ctx context.Context, lock bson.D, acquire func(*mongo.Collection, bson.E) error) error {
	err := n.prepare(ctx)
	if err != nil {
		return outcome.With(outcome.ErrNotBegun, err)
	}
	for range tries {
		err = acquire(n.locks, bson.E{Key: "expires", Value: time.Now().Add(expiry)})
		if mongo.IsDuplicateKeyError(err) {
			return nil // another process does the work
		}
		if err != nil {
			continue
		}
		if err = n.archive(ctx); err == nil {
			_, _ = n.locks.DeleteOne(ctx, lock) // else it expires
			return nil
		}
	}
	return outcome.With(outcome.ErrUnknown, err)
}

func (n night) prepare(ctx context.Context) error {
	index := mongo.IndexModel{Keys: bson.D{{Key: "expires", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(0)}
	if _, err := n.locks.Indexes().CreateOne(ctx, index); err != nil {
		return err
	}
	shipped := bson.D{{Key: "state", Value: "shipped"}, {Key: "archived", Value: 0}}
	_, err := n.orders.InsertMany(ctx, []any{shipped, shipped, shipped})
	return err
}

func (n night) archive(ctx context.Context) error {
	_, err := n.orders.UpdateMany(ctx, bson.D{{Key: "state", Value: "shipped"}}, bson.D{
		{Key: "$set", Value: bson.D{{Key: "state", Value: "archived"}}},
		{Key: "$inc", Value: bson.D{{Key: "archived", Value: 1}}},
	})
	return err
}

// Audit checks that each order is archived once if the program said done.
func Audit(ctx context.Context, client *mongo.Client, said error) error {
	cursor, err := open(client).orders.Find(ctx, bson.D{})
	if err != nil {
		return err
	}
	var orders []struct{ Archived int64 }
	if err := cursor.All(ctx, &orders); err != nil {
		return err
	}
	if said == nil && len(orders) != 3 {
		return fmt.Errorf("there are %d orders", len(orders))
	}
	for _, o := range orders {
		if err := outcome.Check(said, "an order is archived", o.Archived); err != nil {
			return err
		}
	}
	return nil
}
