//go:build mongo_driver_v1

package main

import (
	"context"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// The parts of version 1 of the driver that the scenario uses, by the names of both versions' files.
type (
	D            = bson.D
	A            = bson.A
	Raw          = bson.Raw
	Database     = mongo.Database
	Collection   = mongo.Collection
	ChangeStream = mongo.ChangeStream
	Pipeline     = mongo.Pipeline
	WriteModel   = mongo.WriteModel
	Session      = mongo.Session
)

const returnAfter = options.After

var (
	isDuplicateKeyError     = mongo.IsDuplicateKeyError
	newInsertOneModel       = mongo.NewInsertOneModel
	newUpdateOneModel       = mongo.NewUpdateOneModel
	newUpdateManyModel      = mongo.NewUpdateManyModel
	newDeleteOneModel       = mongo.NewDeleteOneModel
	findOptions             = options.Find
	findOneAndUpdateOptions = options.FindOneAndUpdate
	changeStreamOptions     = options.ChangeStream
	updateOptions           = options.Update
)

func newSessionContext(ctx context.Context, s Session) context.Context {
	return mongo.NewSessionContext(ctx, s)
}

func connect(ctx context.Context, uri string) (*mongo.Client, error) {
	return mongo.Connect(ctx, options.Client().ApplyURI(uri))
}

// asMany returns documents as InsertMany wants them.
func asMany[T any](docs []T) []any {
	list := make([]any, len(docs))
	for i, doc := range docs {
		list[i] = doc
	}
	return list
}

func distinct(ctx context.Context, c *Collection, field string) ([]any, error) {
	return c.Distinct(ctx, field, D{})
}

//nolint:contextcheck // a session's context is made from the one that was given
func withTransaction(ctx context.Context, s Session, do func(context.Context) error) error {
	_, err := s.WithTransaction(ctx, func(within mongo.SessionContext) (any, error) { return nil, do(within) })
	return err
}
