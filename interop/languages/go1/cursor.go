package main

import (
	"context"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

func cursor(ctx context.Context, db *mongo.Database) error {
	c, o := db.Collection("cursor"), &outcome{}
	docs := make([]any, 250)
	for i := range docs {
		docs[i] = byID(i)
	}
	if _, err := c.InsertMany(ctx, docs); err != nil {
		return err
	}
	cur, err := c.Find(ctx, bson.D{}, options.Find().SetSort(byID(1)).SetBatchSize(20))
	if err != nil {
		return err
	}
	next := 0
	for ; cur.Next(ctx); next++ {
		var found item
		o.must(cur.Decode(&found))
		expect(o, "the next _id", found.ID, next)
	}
	o.must(cur.Err())
	expect(o, "documents", next, len(docs))
	return o.err
}
