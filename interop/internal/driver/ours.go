package driver

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// ourClient is officialClient with one import changed, as a migration would.
type ourClient struct{ *mongo.Client }

func connectOurs(o *options.ClientOptions) (Client, error) {
	c, err := mongo.Connect(o)
	if err != nil {
		return nil, err
	}
	return ourClient{c}, nil
}

func (c ourClient) Ping(ctx context.Context) error {
	return c.Database("admin").RunCommand(ctx, bson.D{{Key: "ping", Value: 1}}).Err()
}

func (c ourClient) Collection(database, name string) Collection {
	return ourCollection{c.Database(database).Collection(name)}
}

type ourCollection struct{ c *mongo.Collection }

func (c ourCollection) InsertOne(ctx context.Context, document any) (any, error) {
	r, err := c.c.InsertOne(ctx, document)
	if err != nil {
		return nil, err
	}
	return r.InsertedID, nil
}

func (c ourCollection) InsertMany(ctx context.Context, documents []any) ([]any, error) {
	r, err := c.c.InsertMany(ctx, documents)
	if err != nil {
		return nil, err
	}
	return r.InsertedIDs, nil
}

func (c ourCollection) FindOne(ctx context.Context, filter, result any) error {
	return c.c.FindOne(ctx, filter).Decode(result)
}

func (c ourCollection) FindAll(ctx context.Context, filter any, batch int32) ([]bson.Raw, error) {
	cursor, err := c.c.Find(ctx, filter, options.Find().SetBatchSize(batch).SetSort(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		return nil, err
	}
	var all []bson.Raw
	err = cursor.All(ctx, &all)
	return all, err
}

func (c ourCollection) UpdateOne(ctx context.Context, filter, update any) (int64, error) {
	r, err := c.c.UpdateOne(ctx, filter, update)
	if err != nil {
		return 0, err
	}
	return r.ModifiedCount, nil
}

func (c ourCollection) ReplaceOne(ctx context.Context, filter, replacement any) (int64, error) {
	r, err := c.c.ReplaceOne(ctx, filter, replacement)
	if err != nil {
		return 0, err
	}
	return r.ModifiedCount, nil
}

func (c ourCollection) DeleteOne(ctx context.Context, filter any) (int64, error) {
	r, err := c.c.DeleteOne(ctx, filter)
	if err != nil {
		return 0, err
	}
	return r.DeletedCount, nil
}

func (c ourCollection) FindOneAndUpdate(ctx context.Context, filter, update, result any) error {
	after := options.FindOneAndUpdate().SetReturnDocument(options.After)
	return c.c.FindOneAndUpdate(ctx, filter, update, after).Decode(result)
}

func (c ourCollection) Drop(ctx context.Context) error { return c.c.Drop(ctx) }
