package shop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// cartLife is the time after which the server removes a cart that nobody touched.
const cartLife = 24 * time.Hour

// Store has the collections of the shop.
type Store struct {
	client   *mongo.Client
	products *mongo.Collection
	orders   *mongo.Collection
	carts    *mongo.Collection
}

// Product is a product of the catalogue.
type Product struct {
	SKU      string   `bson:"_id" json:"sku"`
	Name     string   `bson:"name" json:"name"`
	Category string   `bson:"category" json:"category"`
	Tags     []string `bson:"tags,omitempty" json:"tags,omitempty"`
	Cents    int64    `bson:"cents" json:"cents"`
	Stock    int64    `bson:"stock" json:"stock"`
	Version  int64    `bson:"version" json:"version"`
}

// Line is one line of an order.
type Line struct {
	SKU      string `bson:"sku" json:"sku"`
	Quantity int64  `bson:"quantity" json:"quantity"`
	Cents    int64  `bson:"cents" json:"cents"`
}

// Order is an order of a customer.
type Order struct {
	ID       bson.ObjectID `bson:"_id" json:"id"`
	Customer string        `bson:"customer" json:"customer"`
	Lines    []Line        `bson:"lines" json:"lines"`
	Cents    int64         `bson:"cents" json:"cents"`
	State    string        `bson:"state" json:"state"`
	Created  time.Time     `bson:"created" json:"created"`
}

// Open connects to a deployment and creates the collections and indexes that are missing.
func Open(ctx context.Context, o *options.ClientOptions, database string) (*Store, error) {
	client, err := mongo.Connect(o.SetWriteConcern(writeconcern.Majority()).SetReadConcern(readconcern.Majority()))
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	db := client.Database(database)
	s := &Store{client: client, products: db.Collection("products"), orders: db.Collection("orders"), carts: db.Collection("carts")}
	if err := s.prepare(ctx, db); err != nil {
		return nil, errors.Join(err, client.Disconnect(ctx))
	}
	return s, nil
}

// Close disconnects the client.
func (s *Store) Close(ctx context.Context) error { return s.client.Disconnect(ctx) }

// Healthy returns an error if the primary does not answer.
func (s *Store) Healthy(ctx context.Context) error { return s.client.Ping(ctx, readpref.Primary()) }

func (s *Store) prepare(ctx context.Context, db *mongo.Database) error {
	names, err := db.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return fmt.Errorf("list collections: %w", err)
	}
	if len(names) == 0 {
		positive := bson.D{{Key: "stock", Value: bson.D{{Key: "$gte", Value: 0}}}}
		if err := db.CreateCollection(ctx, "products", options.CreateCollection().SetValidator(positive)); err != nil {
			return fmt.Errorf("create products: %w", err)
		}
	}
	for coll, models := range map[*mongo.Collection][]mongo.IndexModel{
		s.products: {
			{Keys: bson.D{{Key: "category", Value: 1}, {Key: "_id", Value: 1}}},
			{Keys: bson.D{{Key: "name", Value: 1}}, Options: options.Index().SetUnique(true)},
		},
		s.orders: {{Keys: bson.D{{Key: "customer", Value: 1}, {Key: "created", Value: -1}}}},
		s.carts:  {{Keys: bson.D{{Key: "touched", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(int32(cartLife.Seconds()))}},
	} {
		if _, err := coll.Indexes().CreateMany(ctx, models); err != nil {
			return fmt.Errorf("indexes of %s: %w", coll.Name(), err)
		}
	}
	return nil
}
