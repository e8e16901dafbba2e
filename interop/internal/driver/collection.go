package driver

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// collection makes a Collection of a driver's own.
type collection struct{ native NativeCollection }

func (c collection) InsertOne(ctx context.Context, document any) (any, error) {
	r, err := c.native.InsertOne(ctx, document)
	if err != nil {
		return nil, err
	}
	return r.InsertedID, nil
}

func (c collection) InsertMany(ctx context.Context, documents []any) ([]any, error) {
	r, err := c.native.InsertMany(ctx, documents)
	if err != nil {
		return nil, err
	}
	return r.InsertedIDs, nil
}

func (c collection) FindOne(ctx context.Context, filter, result any) error {
	return c.native.FindOne(ctx, filter).Decode(result)
}

func (c collection) FindAll(ctx context.Context, filter any, batch int32) ([]bson.Raw, error) {
	cursor, err := c.native.Find(ctx, filter, options.Find().SetBatchSize(batch).SetSort(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		return nil, err
	}
	var all []bson.Raw
	err = cursor.All(ctx, &all)
	return all, err
}

func (c collection) UpdateOne(ctx context.Context, filter, update any) (int64, error) {
	r, err := c.native.UpdateOne(ctx, filter, update)
	if err != nil {
		return 0, err
	}
	return r.ModifiedCount, nil
}

func (c collection) ReplaceOne(ctx context.Context, filter, replacement any) (int64, error) {
	r, err := c.native.ReplaceOne(ctx, filter, replacement)
	if err != nil {
		return 0, err
	}
	return r.ModifiedCount, nil
}

func (c collection) DeleteOne(ctx context.Context, filter any) (int64, error) {
	r, err := c.native.DeleteOne(ctx, filter)
	if err != nil {
		return 0, err
	}
	return r.DeletedCount, nil
}

func (c collection) FindOneAndUpdate(ctx context.Context, filter, update, result any) error {
	after := options.FindOneAndUpdate().SetReturnDocument(options.After)
	return c.native.FindOneAndUpdate(ctx, filter, update, after).Decode(result)
}

func (c collection) Drop(ctx context.Context) error { return c.native.Drop(ctx) }
