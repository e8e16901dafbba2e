package main

import (
	"context"
	"fmt"
)

func crud(ctx context.Context, db *Database) error {
	c, o := db.Collection("crud"), &outcome{}
	writeOne(ctx, c, o)
	ask(ctx, c, o)
	writeMany(ctx, c, o)
	_, err := c.InsertOne(ctx, item{1, "fruit", "apple again", 1})
	if o.err == nil && !isDuplicateKeyError(err) {
		return fmt.Errorf("inserting an _id twice: %w; want a duplicate key error", err)
	}
	return o.err
}

func writeOne(ctx context.Context, c *Collection, o *outcome) {
	_, err := c.InsertOne(ctx, item{1, "fruit", "apple", 1})
	o.must(err)
	many, err := c.InsertMany(ctx, asMany([]item{
		{2, "fruit", "pear", 2}, {3, "fruit", "plum", 3}, {4, "vegetable", "leek", 4}, {5, "vegetable", "kale", 5},
	}))
	o.must(err)
	if o.err != nil {
		return
	}
	expect(o, "inserted", len(many.InsertedIDs), 4)
	updated, err := c.UpdateOne(ctx, byID(1), increment(10))
	o.must(err)
	upserted, err := c.UpdateOne(ctx, byID(6), set(D{
		{Key: "kind", Value: "vegetable"}, {Key: "name", Value: "beet"}, {Key: "n", Value: 6},
	}), updateOptions().SetUpsert(true))
	o.must(err)
	replaced, err := c.ReplaceOne(ctx, byID(2), item{2, "fruit", "quince", 2})
	o.must(err)
	deleted, err := c.DeleteOne(ctx, byID(5))
	o.must(err)
	if o.err != nil {
		return
	}
	expect(o, "modified by the update", updated.ModifiedCount, 1)
	expect(o, "upserted _id", fmt.Sprint(upserted.UpsertedID), "6")
	expect(o, "replaced", replaced.ModifiedCount, 1)
	expect(o, "deleted", deleted.DeletedCount, 1)
}

func ask(ctx context.Context, c *Collection, o *outcome) {
	var found item
	o.must(c.FindOne(ctx, byID(3)).Decode(&found))
	expect(o, "found", found, item{3, "fruit", "plum", 3})
	count, err := c.CountDocuments(ctx, kind("fruit"))
	o.must(err)
	expect(o, "fruit", count, 3)
	kinds, err := distinct(ctx, c, "kind")
	o.must(err)
	expect(o, "kinds", fmt.Sprint(kinds), "[fruit vegetable]")
	sums, err := c.Aggregate(ctx, Pipeline{
		{{Key: "$group", Value: D{{Key: "_id", Value: "$kind"}, {Key: "n", Value: D{{Key: "$sum", Value: "$n"}}}}}},
		{{Key: "$sort", Value: byID(1)}},
	})
	o.must(err)
	if o.err != nil {
		return
	}
	var groups []struct {
		ID string `bson:"_id"`
		N  int    `bson:"n"`
	}
	o.must(sums.All(ctx, &groups))
	expect(o, "groups", fmt.Sprint(groups), "[{fruit 16} {vegetable 10}]")
}

func writeMany(ctx context.Context, c *Collection, o *outcome) {
	done, err := c.BulkWrite(ctx, []WriteModel{
		newInsertOneModel().SetDocument(item{7, "herb", "dill", 7}),
		newUpdateOneModel().SetFilter(byID(7)).SetUpdate(set(D{{Key: "n", Value: 70}})),
		newUpdateManyModel().SetFilter(kind("fruit")).SetUpdate(increment(1)),
		newDeleteOneModel().SetFilter(byID(4)),
	})
	o.must(err)
	if o.err != nil {
		return
	}
	expect(o, "bulk: inserted, modified, deleted", fmt.Sprint(done.InsertedCount, done.ModifiedCount, done.DeletedCount), "1 4 1")
	var after item
	o.must(c.FindOneAndUpdate(ctx, byID(6), increment(1), findOneAndUpdateOptions().SetReturnDocument(returnAfter)).Decode(&after))
	expect(o, "updated", after, item{6, "vegetable", "beet", 7})
}
