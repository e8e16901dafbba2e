package driver

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// NativeDatabase is a driver's own database. Only the results and the collections are behind interfaces, because they
// are of other types in the other driver.
type NativeDatabase interface {
	RunCommand(ctx context.Context, command any, opts ...options.Lister[options.RunCmdOptions]) SingleResult
	Collection(name string, opts ...options.Lister[options.CollectionOptions]) NativeCollection
}

// NativeCollection is a driver's own collection.
type NativeCollection interface {
	plainCollection
	FindOne(ctx context.Context, filter any, opts ...options.Lister[options.FindOneOptions]) SingleResult
	Find(ctx context.Context, filter any, opts ...options.Lister[options.FindOptions]) (Cursor, error)
	FindOneAndUpdate(
		ctx context.Context, filter, update any, opts ...options.Lister[options.FindOneAndUpdateOptions],
	) SingleResult
}

// SingleResult is a driver's own single result.
type SingleResult interface {
	Decode(result any) error
	Err() error
}

// Cursor is a driver's own cursor.
type Cursor interface {
	All(ctx context.Context, results any) error
	Next(ctx context.Context) bool
	Err() error
	Close(ctx context.Context) error
}

// plainCollection has the methods of a collection whose types are the same in both drivers.
type plainCollection interface {
	InsertOne(context.Context, any, ...options.Lister[options.InsertOneOptions]) (*mongo.InsertOneResult, error)
	InsertMany(context.Context, any, ...options.Lister[options.InsertManyOptions]) (*mongo.InsertManyResult, error)
	UpdateOne(context.Context, any, any, ...options.Lister[options.UpdateOneOptions]) (*mongo.UpdateResult, error)
	UpdateMany(context.Context, any, any, ...options.Lister[options.UpdateManyOptions]) (*mongo.UpdateResult, error)
	DeleteMany(context.Context, any, ...options.Lister[options.DeleteManyOptions]) (*mongo.DeleteResult, error)
	BulkWrite(context.Context, []mongo.WriteModel, ...options.Lister[options.BulkWriteOptions]) (*mongo.BulkWriteResult, error)
	UpdateByID(context.Context, any, any, ...options.Lister[options.UpdateOneOptions]) (*mongo.UpdateResult, error)
	ReplaceOne(context.Context, any, any, ...options.Lister[options.ReplaceOptions]) (*mongo.UpdateResult, error)
	DeleteOne(context.Context, any, ...options.Lister[options.DeleteOneOptions]) (*mongo.DeleteResult, error)
	Drop(context.Context, ...options.Lister[options.DropCollectionOptions]) error
}

// typedCollection is a collection with the types of one driver.
type typedCollection[S SingleResult, C Cursor] interface {
	plainCollection
	FindOne(context.Context, any, ...options.Lister[options.FindOneOptions]) S
	Find(context.Context, any, ...options.Lister[options.FindOptions]) (C, error)
	FindOneAndUpdate(context.Context, any, any, ...options.Lister[options.FindOneAndUpdateOptions]) S
}

// native makes a NativeCollection of a typed one.
type native[S SingleResult, C Cursor] struct{ typedCollection[S, C] }

func (n native[S, C]) FindOne(
	ctx context.Context, filter any, opts ...options.Lister[options.FindOneOptions],
) SingleResult {
	return n.typedCollection.FindOne(ctx, filter, opts...)
}

func (n native[S, C]) Find(
	ctx context.Context, filter any, opts ...options.Lister[options.FindOptions],
) (Cursor, error) {
	c, err := n.typedCollection.Find(ctx, filter, opts...)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (n native[S, C]) FindOneAndUpdate(
	ctx context.Context, filter, update any, opts ...options.Lister[options.FindOneAndUpdateOptions],
) SingleResult {
	return n.typedCollection.FindOneAndUpdate(ctx, filter, update, opts...)
}

// typedDatabase is a database with the types of one driver.
type typedDatabase[S SingleResult, K any] interface {
	RunCommand(context.Context, any, ...options.Lister[options.RunCmdOptions]) S
	Collection(string, ...options.Lister[options.CollectionOptions]) K
}

// nativeDatabase makes a NativeDatabase of a typed one.
type nativeDatabase[S SingleResult, C Cursor, K typedCollection[S, C]] struct{ typed typedDatabase[S, K] }

func (n nativeDatabase[S, C, K]) RunCommand(
	ctx context.Context, command any, opts ...options.Lister[options.RunCmdOptions],
) SingleResult {
	return n.typed.RunCommand(ctx, command, opts...)
}

func (n nativeDatabase[S, C, K]) Collection(
	name string, opts ...options.Lister[options.CollectionOptions],
) NativeCollection {
	return native[S, C]{n.typed.Collection(name, opts...)}
}
