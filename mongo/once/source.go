package once

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Source is a collection of a MongoDB client. *mongo.Collection of this module has its methods, and so has that of the official driver. C is
// the client's cursor.
type Source[C Cursor] interface {
	Find(ctx context.Context, filter any, opts ...options.Lister[options.FindOptions]) (C, error)
	Commands
}

// Cursor is the result of a find.
type Cursor interface {
	Next(ctx context.Context) bool
	Decode(document any) error
	Err() error
	Close(ctx context.Context) error
}

// source is a Source without its type parameter.
type source interface {
	find(ctx context.Context, filter any, opts ...options.Lister[options.FindOptions]) (Cursor, error)
	Commands
}

// Commands are the methods of a Source that are the same in every client.
type Commands interface {
	InsertOne(ctx context.Context, document any, opts ...options.Lister[options.InsertOneOptions]) (*mongo.InsertOneResult, error)
	UpdateOne(ctx context.Context, filter, update any, opts ...options.Lister[options.UpdateOneOptions]) (*mongo.UpdateResult, error)
	UpdateMany(ctx context.Context, filter, update any, opts ...options.Lister[options.UpdateManyOptions]) (*mongo.UpdateResult, error)
	DeleteOne(ctx context.Context, filter any, opts ...options.Lister[options.DeleteOneOptions]) (*mongo.DeleteResult, error)
	DeleteMany(ctx context.Context, filter any, opts ...options.Lister[options.DeleteManyOptions]) (*mongo.DeleteResult, error)
}

type sourceOf[C Cursor] struct{ Source[C] }

func (s sourceOf[C]) find(ctx context.Context, filter any, opts ...options.Lister[options.FindOptions]) (Cursor, error) {
	return s.Find(ctx, filter, opts...)
}
