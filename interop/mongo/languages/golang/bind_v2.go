//go:build !mongo_driver_v1

package main

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The parts of version 2 of the driver that the scenario uses, by the names of both versions' files.
type (
	D            = bson.D
	A            = bson.A
	Raw          = bson.Raw
	Database     = mongo.Database
	Collection   = mongo.Collection
	ChangeStream = mongo.ChangeStream
	Pipeline     = mongo.Pipeline
	WriteModel   = mongo.WriteModel
	Session      = *mongo.Session
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
	updateOptions           = options.UpdateOne
	newSessionContext       = mongo.NewSessionContext
)

func connect(_ context.Context, uri string) (*mongo.Client, error) {
	return mongo.Connect(options.Client().ApplyURI(uri))
}

// asMany returns documents as InsertMany wants them.
func asMany[T any](docs []T) []T { return docs }

func distinct(ctx context.Context, c *Collection, field string) (values []string, err error) {
	err = c.Distinct(ctx, field, D{}).Decode(&values)
	return values, err
}

func withTransaction(ctx context.Context, s Session, do func(context.Context) error) error {
	_, err := s.WithTransaction(ctx, func(within context.Context) (any, error) { return nil, do(within) })
	return err
}
