// Package sideeffect sells a lamp: it takes one from the stock, and stores the order.
package sideeffect

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/interop/explore/programs/outcome"
)

const stocked = 10

type store struct {
	client        *mongo.Client
	stock, orders *mongo.Collection
}

func open(client *mongo.Client) store {
	db := client.Database("sideeffect")
	return store{client, db.Collection("stock"), db.Collection("orders")}
}

// Mistake takes the lamp outside the transaction: its context is not the one that the callback was given. When the
// driver repeats the callback, another lamp is taken.
func Mistake(ctx context.Context, client *mongo.Client) error {
	s := open(client)
	return s.sell(ctx, func(inTransaction context.Context) error {
		if err := s.take(ctx); err != nil {
			return err
		}
		return s.order(inTransaction)
	})
}

// Mended takes the lamp in the transaction.
func Mended(ctx context.Context, client *mongo.Client) error {
	s := open(client)
	return s.sell(ctx, func(inTransaction context.Context) error {
		if err := s.take(inTransaction); err != nil {
			return err
		}
		return s.order(inTransaction)
	})
}

func (s store) sell(ctx context.Context, callback func(context.Context) error) error {
	if _, err := s.stock.InsertOne(ctx, bson.D{{Key: "_id", Value: "lamp"}, {Key: "left", Value: stocked}}); err != nil {
		return outcome.With(outcome.ErrNotBegun, err)
	}
	return outcome.InTransaction(ctx, s.client, callback)
}

func (s store) take(ctx context.Context) error {
	_, err := s.stock.UpdateByID(ctx, "lamp", bson.D{{Key: "$inc", Value: bson.D{{Key: "left", Value: -1}}}})
	return err
}

func (s store) order(ctx context.Context) error {
	_, err := s.orders.InsertOne(ctx, bson.D{{Key: "item", Value: "lamp"}})
	return err
}

// Audit checks that there is one order if the program said done, and that one lamp was taken for each order.
func Audit(ctx context.Context, client *mongo.Client, said error) error {
	s := open(client)
	orders, err := s.orders.CountDocuments(ctx, bson.D{})
	if err != nil {
		return err
	}
	lamp := struct{ Left int64 }{stocked}
	if err := s.stock.FindOne(ctx, bson.D{}).Decode(&lamp); err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return err
	}
	if taken := stocked - lamp.Left; taken != orders {
		return fmt.Errorf("%d lamps were taken for %d orders", taken, orders)
	}
	return outcome.Check(said, "an order", orders)
}
