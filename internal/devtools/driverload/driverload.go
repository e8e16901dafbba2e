// Package driverload has the operations with which tests put a driver under load. The official driver and ours do the same.
package driverload

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// Where the operations are.
const (
	Database   = "app"
	Collection = "c"
	Seeded     = "seeded" // is read whole
	// Documents is how many documents Seeded must have.
	Documents = 12
)

// Loader is a driver that operates.
type Loader struct {
	Name                              string
	Insert, Update, Find, Transaction func(ctx context.Context, id string) error
	Cursor                            func(context.Context) error // reads several batches
	Close                             func()
}

// Official connects the official driver.
func Official(name string, o *options.ClientOptions) (Loader, error) {
	client, err := official.Connect(o)
	if err != nil {
		return Loader{}, err
	}
	db := client.Database(Database)
	l := on(db.Collection(Collection), db.Collection(Seeded), transactions(client.UseSession, official.SessionFromContext))
	return l.named(name, client.Disconnect), nil
}

// Ours connects our client.
func Ours(name string, o *options.ClientOptions) (Loader, error) {
	client, err := mongo.Connect(o)
	if err != nil {
		return Loader{}, err
	}
	db := client.Database(Database)
	l := on(db.Collection(Collection), db.Collection(Seeded), transactions(client.UseSession, mongo.SessionFromContext))
	return l.named(name, client.Disconnect), nil
}

func (l Loader) named(name string, disconnect func(context.Context) error) Loader {
	l.Name, l.Close = name, func() { _ = disconnect(context.Background()) }
	return l
}

// Operate has do run each operation, one after the other.
func (l Loader) Operate(ctx context.Context, id string, do func(what string, operation func() error)) {
	do("insert", func() error { return l.Insert(ctx, id) })
	do("update", func() error { return l.Update(ctx, id) })
	do("find", func() error { return l.Find(ctx, id) })
	do("transaction", func() error { return l.Transaction(ctx, id) })
	do("cursor", func() error { return l.Cursor(ctx) })
}

// collection is what both drivers' collections can do. Only the results of reads have types of their own.
type collection[S result, C cursor] interface {
	InsertOne(context.Context, any, ...options.Lister[options.InsertOneOptions]) (*official.InsertOneResult, error)
	UpdateOne(context.Context, any, any, ...options.Lister[options.UpdateOneOptions]) (*official.UpdateResult, error)
	FindOne(context.Context, any, ...options.Lister[options.FindOneOptions]) S
	Find(context.Context, any, ...options.Lister[options.FindOptions]) (C, error)
}

type result interface{ Err() error }

type cursor interface {
	All(ctx context.Context, results any) error
}

var (
	increment  = bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
	threeParts = options.Find().SetBatchSize(Documents / 3)
)

func byID(id string) bson.D { return bson.D{{Key: "_id", Value: id}} }

// on returns the operations on two collections of a driver.
func on[S result, C cursor](c, seeded collection[S, C], inTransaction func(context.Context, func(context.Context) error) error) Loader {
	insert := func(ctx context.Context, id string) error {
		_, err := c.InsertOne(ctx, byID(id))
		return err
	}
	update := func(ctx context.Context, id string) error {
		_, err := c.UpdateOne(ctx, byID(id), increment)
		return err
	}
	return Loader{
		Insert: insert, Update: update,
		Find: func(ctx context.Context, id string) error { return c.FindOne(ctx, byID(id)).Err() },
		Transaction: func(ctx context.Context, id string) error {
			return inTransaction(ctx, func(ctx context.Context) error {
				if err := insert(ctx, id+" by a transaction"); err != nil {
					return err
				}
				return update(ctx, id)
			})
		},
		Cursor: func(ctx context.Context) error {
			found, err := seeded.Find(ctx, bson.D{}, threeParts)
			if err != nil {
				return err
			}
			var all []bson.D
			return found.All(ctx, &all)
		},
	}
}

type session interface {
	WithTransaction(context.Context, func(context.Context) (any, error), ...options.Lister[options.TransactionOptions]) (any, error)
}

// transactions returns what runs a function in a transaction of a driver.
func transactions[S session](
	use func(context.Context, func(context.Context) error) error, current func(context.Context) S,
) func(context.Context, func(context.Context) error) error {
	return func(ctx context.Context, f func(context.Context) error) error {
		return use(ctx, func(ctx context.Context) error {
			_, err := current(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) { return nil, f(ctx) })
			return err
		})
	}
}
