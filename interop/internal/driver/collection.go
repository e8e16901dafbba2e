package driver

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

type (
	singleResult interface{ Decode(result any) error }
	cursor       interface {
		All(ctx context.Context, results any) error
	}
)

// nativeCollection is a driver's own collection. Only the types of a single result and of a cursor are not the same in both
// drivers.
type nativeCollection[S singleResult, C cursor] interface {
	InsertOne(context.Context, any, ...options.Lister[options.InsertOneOptions]) (*mongo.InsertOneResult, error)
	InsertMany(context.Context, any, ...options.Lister[options.InsertManyOptions]) (*mongo.InsertManyResult, error)
	FindOne(context.Context, any, ...options.Lister[options.FindOneOptions]) S
	Find(context.Context, any, ...options.Lister[options.FindOptions]) (C, error)
	UpdateOne(context.Context, any, any, ...options.Lister[options.UpdateOneOptions]) (*mongo.UpdateResult, error)
	ReplaceOne(context.Context, any, any, ...options.Lister[options.ReplaceOptions]) (*mongo.UpdateResult, error)
	DeleteOne(context.Context, any, ...options.Lister[options.DeleteOneOptions]) (*mongo.DeleteResult, error)
	FindOneAndUpdate(context.Context, any, any, ...options.Lister[options.FindOneAndUpdateOptions]) S
	Drop(context.Context, ...options.Lister[options.DropCollectionOptions]) error
}

// collection makes a Collection of a driver's own.
type collection[S singleResult, C cursor] struct{ native nativeCollection[S, C] }

func (c collection[S, C]) InsertOne(ctx context.Context, document any) (any, error) {
	r, err := c.native.InsertOne(ctx, document)
	if err != nil {
		return nil, err
	}
	return r.InsertedID, nil
}

func (c collection[S, C]) InsertMany(ctx context.Context, documents []any) ([]any, error) {
	r, err := c.native.InsertMany(ctx, documents)
	if err != nil {
		return nil, err
	}
	return r.InsertedIDs, nil
}

func (c collection[S, C]) FindOne(ctx context.Context, filter, result any) error {
	return c.native.FindOne(ctx, filter).Decode(result)
}

func (c collection[S, C]) FindAll(ctx context.Context, filter any, batch int32) ([]bson.Raw, error) {
	cursor, err := c.native.Find(ctx, filter, options.Find().SetBatchSize(batch).SetSort(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		return nil, err
	}
	var all []bson.Raw
	err = cursor.All(ctx, &all)
	return all, err
}

func (c collection[S, C]) UpdateOne(ctx context.Context, filter, update any) (int64, error) {
	r, err := c.native.UpdateOne(ctx, filter, update)
	if err != nil {
		return 0, err
	}
	return r.ModifiedCount, nil
}

func (c collection[S, C]) ReplaceOne(ctx context.Context, filter, replacement any) (int64, error) {
	r, err := c.native.ReplaceOne(ctx, filter, replacement)
	if err != nil {
		return 0, err
	}
	return r.ModifiedCount, nil
}

func (c collection[S, C]) DeleteOne(ctx context.Context, filter any) (int64, error) {
	r, err := c.native.DeleteOne(ctx, filter)
	if err != nil {
		return 0, err
	}
	return r.DeletedCount, nil
}

func (c collection[S, C]) FindOneAndUpdate(ctx context.Context, filter, update, result any) error {
	after := options.FindOneAndUpdate().SetReturnDocument(options.After)
	return c.native.FindOneAndUpdate(ctx, filter, update, after).Decode(result)
}

func (c collection[S, C]) Drop(ctx context.Context) error { return c.native.Drop(ctx) }
