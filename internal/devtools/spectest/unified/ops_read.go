package unified

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func aggregate(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	pipeline, opts := a.native("pipeline"), options.Aggregate()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return all(ctx)(c.Aggregate(ctx, pipeline, opts))
}

func watchCollection(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	pipeline, opts := a.native("pipeline"), options.ChangeStream()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return streamOf(c.Watch(ctx, pipeline, opts))
}

func countDocuments(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	filter, opts := a.native("filter"), options.Count()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return c.CountDocuments(ctx, filter, opts)
}

func estimatedDocumentCount(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	opts := options.EstimatedDocumentCount()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return c.EstimatedDocumentCount(ctx, opts)
}

func distinct(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	name, filter, opts := a.text("fieldName"), a.native("filter"), options.Distinct()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	found := c.Distinct(ctx, name, filter, opts)
	if err := found.Err(); err != nil {
		return nil, err
	}
	values, err := found.Raw()
	return bson.RawValue{Type: bson.TypeArray, Value: values}, err
}

func findDocuments(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	filter, opts := a.native("filter"), options.Find()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return all(ctx)(c.Find(ctx, filter, opts))
}

func createFindCursor(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	filter, opts := a.native("filter"), options.Find()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return cursorOf(c.Find(ctx, filter, opts))
}

func findOne(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	filter, opts := a.native("filter"), options.FindOne()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return document(c.FindOne(ctx, filter, opts))
}

func findOneAndDelete(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	filter, opts := a.native("filter"), options.FindOneAndDelete()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return document(c.FindOneAndDelete(ctx, filter, opts))
}

func findOneAndReplace(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	filter, replacement, opts := a.native("filter"), a.native("replacement"), options.FindOneAndReplace()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return document(c.FindOneAndReplace(ctx, filter, replacement, opts))
}

func findOneAndUpdate(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	filter, update, opts := a.native("filter"), a.native("update"), options.FindOneAndUpdate()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return document(c.FindOneAndUpdate(ctx, filter, update, opts))
}
