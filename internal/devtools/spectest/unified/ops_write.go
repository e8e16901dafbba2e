package unified

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func insertOne(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	doc, opts := a.native("document"), options.InsertOne()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	result, err := c.InsertOne(ctx, doc, opts)
	return made(result, insertOneResult), err
}

func insertMany(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	docs, opts := a.documents("documents"), options.InsertMany()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	result, err := c.InsertMany(ctx, docs, opts)
	return made(result, insertManyResult), err
}

func updateOne(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	filter, update, opts := a.native("filter"), a.native("update"), options.UpdateOne()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	result, err := c.UpdateOne(ctx, filter, update, opts)
	return made(result, updateResult), err
}

func updateMany(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	filter, update, opts := a.native("filter"), a.native("update"), options.UpdateMany()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	result, err := c.UpdateMany(ctx, filter, update, opts)
	return made(result, updateResult), err
}

func replaceOne(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	filter, replacement, opts := a.native("filter"), a.native("replacement"), options.Replace()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	result, err := c.ReplaceOne(ctx, filter, replacement, opts)
	return made(result, updateResult), err
}

func deleteOne(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	filter, opts := a.native("filter"), options.DeleteOne()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	result, err := c.DeleteOne(ctx, filter, opts)
	return made(result, deleteResult), err
}

func deleteMany(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	filter, opts := a.native("filter"), options.DeleteMany()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	result, err := c.DeleteMany(ctx, filter, opts)
	return made(result, deleteResult), err
}

func bulkWrite(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	models, opts := writeModels(a), options.BulkWrite()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	result, err := c.BulkWrite(ctx, models, opts)
	return made(result, bulkResult), err
}
