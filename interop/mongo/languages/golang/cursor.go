package main

import (
	"context"
)

func cursor(ctx context.Context, db *Database) error {
	c, o := db.Collection("cursor"), &outcome{}
	docs := make([]D, 250)
	for i := range docs {
		docs[i] = byID(i)
	}
	if _, err := c.InsertMany(ctx, asMany(docs)); err != nil {
		return err
	}
	cur, err := c.Find(ctx, D{}, findOptions().SetSort(byID(1)).SetBatchSize(20))
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
