package driver

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// officialClient and ourClient, in the file beside this one, are the same text but for one import and their names.
type officialClient struct{ *mongo.Client }

func connectOfficial(o *options.ClientOptions) (Client, error) {
	c, err := mongo.Connect(o)
	if err != nil {
		return nil, err
	}
	return officialClient{c}, nil
}

func (c officialClient) Ping(ctx context.Context) error {
	return c.Database("admin").RunCommand(ctx, bson.D{{Key: "ping", Value: 1}}).Err()
}

func (c officialClient) Collection(database, name string) Collection {
	return officialCollection{c.Database(database).Collection(name)}
}

type officialCollection struct{ c *mongo.Collection }

func (c officialCollection) InsertOne(ctx context.Context, document any) (any, error) {
	r, err := c.c.InsertOne(ctx, document)
	if err != nil {
		return nil, err
	}
	return r.InsertedID, nil
}

func (c officialCollection) InsertMany(ctx context.Context, documents []any) ([]any, error) {
	r, err := c.c.InsertMany(ctx, documents)
	if err != nil {
		return nil, err
	}
	return r.InsertedIDs, nil
}

func (c officialCollection) FindOne(ctx context.Context, filter, result any) error {
	return c.c.FindOne(ctx, filter).Decode(result)
}

func (c officialCollection) FindAll(ctx context.Context, filter any, batch int32) ([]bson.Raw, error) {
	cursor, err := c.c.Find(ctx, filter, options.Find().SetBatchSize(batch).SetSort(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		return nil, err
	}
	var all []bson.Raw
	err = cursor.All(ctx, &all)
	return all, err
}

func (c officialCollection) UpdateOne(ctx context.Context, filter, update any) (int64, error) {
	r, err := c.c.UpdateOne(ctx, filter, update)
	if err != nil {
		return 0, err
	}
	return r.ModifiedCount, nil
}

func (c officialCollection) ReplaceOne(ctx context.Context, filter, replacement any) (int64, error) {
	r, err := c.c.ReplaceOne(ctx, filter, replacement)
	if err != nil {
		return 0, err
	}
	return r.ModifiedCount, nil
}

func (c officialCollection) DeleteOne(ctx context.Context, filter any) (int64, error) {
	r, err := c.c.DeleteOne(ctx, filter)
	if err != nil {
		return 0, err
	}
	return r.DeletedCount, nil
}

func (c officialCollection) FindOneAndUpdate(ctx context.Context, filter, update, result any) error {
	after := options.FindOneAndUpdate().SetReturnDocument(options.After)
	return c.c.FindOneAndUpdate(ctx, filter, update, after).Decode(result)
}

func (c officialCollection) Drop(ctx context.Context) error { return c.c.Drop(ctx) }
