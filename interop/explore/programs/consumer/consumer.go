// Package consumer follows customers who move, by a change stream, and sends their orders to the new address.
package consumer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/explore/programs/outcome"
)

const (
	ordersEach = 2
	starts     = 5 // how often the consumer starts: again after an error
)

var moving = []string{"ada", "bo"}

type consumer struct{ customers, orders, positions *mongo.Collection }

func open(client *mongo.Client) consumer {
	db := client.Database("consumer")
	return consumer{db.Collection("customers"), db.Collection("orders"), db.Collection("positions")}
}

// position is what a consumer that starts again goes by.
type position struct {
	ID     string `bson:"_id"`
	Token  bson.Raw
	Events int
}

func at(token bson.Raw, events int) position { return position{"consumer", token, events} }

// Mistake stores the position before it does the work: what fails after that is not done by the next start.
func Mistake(ctx context.Context, client *mongo.Client) error {
	c := open(client)
	return c.run(ctx, func(customer string, next position) error {
		if err := c.store(ctx, next); err != nil {
			return err
		}
		return c.work(ctx, customer)
	})
}

// Mended stores the position when the work is done. Work that is done twice changes nothing.
func Mended(ctx context.Context, client *mongo.Client) error {
	c := open(client)
	return c.run(ctx, func(customer string, next position) error {
		if err := c.work(ctx, customer); err != nil {
			return err
		}
		return c.store(ctx, next)
	})
}

func (c consumer) run(ctx context.Context, handle func(customer string, next position) error) error {
	err := c.prepare(ctx)
	if err != nil {
		return outcome.With(outcome.ErrNotBegun, err)
	}
	for range starts {
		if err = c.follow(ctx, handle); err == nil {
			return nil
		}
	}
	return outcome.With(outcome.ErrUnknown, err)
}

// prepare stores the orders and the position from which the customers move.
func (c consumer) prepare(ctx context.Context) error {
	var customers, orders []any
	for _, customer := range moving {
		customers = append(customers, bson.D{{Key: "_id", Value: customer}, oldAddress})
		orders = append(orders, slices.Repeat([]any{bson.D{{Key: "customer", Value: customer}, oldAddress}}, ordersEach)...)
	}
	if _, err := c.customers.InsertMany(ctx, customers); err != nil {
		return err
	}
	if _, err := c.orders.InsertMany(ctx, orders); err != nil {
		return err
	}
	stream, err := c.customers.Watch(ctx, mongo.Pipeline{})
	if err != nil {
		return err
	}
	defer stream.Close(ctx)
	if err := c.store(ctx, at(stream.ResumeToken(), 0)); err != nil {
		return err
	}
	for _, customer := range moving {
		if _, err := c.customers.UpdateByID(ctx, customer, newAddress); err != nil {
			return err
		}
	}
	return nil
}

var (
	oldAddress = bson.E{Key: "address", Value: "old"}
	newAddress = bson.D{{Key: "$set", Value: bson.D{{Key: "address", Value: "new"}}}}
)

func (c consumer) follow(ctx context.Context, handle func(customer string, next position) error) error {
	var now position
	if err := c.positions.FindOne(ctx, bson.D{}).Decode(&now); err != nil {
		return err
	}
	stream, err := c.customers.Watch(ctx, mongo.Pipeline{}, options.ChangeStream().SetResumeAfter(now.Token))
	if err != nil {
		return err
	}
	defer stream.Close(ctx)
	for now.Events < len(moving) {
		if !stream.Next(ctx) {
			return errors.Join(errors.New("the stream has ended"), stream.Err())
		}
		now = at(stream.ResumeToken(), now.Events+1)
		if err := handle(stream.Current.Lookup("documentKey", "_id").StringValue(), now); err != nil {
			return err
		}
	}
	return nil
}

func (c consumer) store(ctx context.Context, p position) error {
	_, err := c.positions.ReplaceOne(ctx, bson.D{{Key: "_id", Value: p.ID}}, p, options.Replace().SetUpsert(true))
	return err
}

func (c consumer) work(ctx context.Context, customer string) error {
	_, err := c.orders.UpdateMany(ctx, bson.D{{Key: "customer", Value: customer}}, newAddress)
	return err
}

// Audit checks that all orders have the new address if the program said done. If it did not, it promises nothing: an
// order has the one address or the other.
func Audit(ctx context.Context, client *mongo.Client, said error) error {
	sent, err := open(client).orders.CountDocuments(ctx, bson.D{{Key: "address", Value: "new"}})
	if err != nil {
		return err
	}
	if said == nil && sent != int64(ordersEach*len(moving)) {
		return fmt.Errorf("%d orders have the new address, but the program said done", sent)
	}
	return nil
}
