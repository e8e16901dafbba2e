// Package outbox stores an order, and its event for each of two subscribers.
package outbox

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/interop/explore/programs/outcome"
)

type store struct {
	client              *mongo.Client
	orders, subscribers *mongo.Collection
}

func open(client *mongo.Client) store {
	db := client.Database("outbox")
	return store{client, db.Collection("orders"), db.Collection("subscribers")}
}

// Mistake stores the order and then the events: a failure between leaves an order without its events.
func Mistake(ctx context.Context, client *mongo.Client) error {
	s := open(client)
	if err := s.prepare(ctx); err != nil {
		return outcome.With(outcome.ErrNotBegun, err)
	}
	if err := s.place(ctx, bson.NewObjectID()); err != nil {
		return outcome.With(outcome.ErrUnknown, err)
	}
	return nil
}

// Mended stores both in one transaction.
func Mended(ctx context.Context, client *mongo.Client) error {
	s := open(client)
	if err := s.prepare(ctx); err != nil {
		return outcome.With(outcome.ErrNotBegun, err)
	}
	id := bson.NewObjectID()
	return outcome.InTransaction(ctx, client, func(ctx context.Context) error { return s.place(ctx, id) })
}

func (s store) prepare(ctx context.Context) error {
	_, err := s.subscribers.InsertMany(ctx, []any{subscriber("billing"), subscriber("shipping")})
	return err
}

func subscriber(id string) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "events", Value: bson.A{}}}
}

func (s store) place(ctx context.Context, id bson.ObjectID) error {
	if _, err := s.orders.InsertOne(ctx, bson.D{{Key: "_id", Value: id}}); err != nil {
		return err
	}
	_, err := s.subscribers.UpdateMany(ctx, bson.D{}, bson.D{{Key: "$push", Value: bson.D{{Key: "events", Value: id}}}})
	return err
}

// Audit checks that there is one order if the program said done, and that each subscriber has one event for each order.
func Audit(ctx context.Context, client *mongo.Client, said error) error {
	s := open(client)
	orders, err := s.orders.CountDocuments(ctx, bson.D{})
	if err != nil {
		return err
	}
	cursor, err := s.subscribers.Find(ctx, bson.D{})
	if err != nil {
		return err
	}
	var subscribers []struct {
		ID     string `bson:"_id"`
		Events []bson.ObjectID
	}
	if err := cursor.All(ctx, &subscribers); err != nil {
		return err
	}
	if said == nil && len(subscribers) != 2 {
		return fmt.Errorf("there are %d subscribers", len(subscribers))
	}
	for _, sub := range subscribers {
		if len(sub.Events) != int(orders) {
			return fmt.Errorf("%s has %d events for %d orders", sub.ID, len(sub.Events), orders)
		}
	}
	return outcome.Check(said, "an order", orders)
}
