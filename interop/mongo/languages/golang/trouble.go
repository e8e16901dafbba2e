package main

import (
	"context"
	"fmt"
)

func lostReply(ctx context.Context, db *Database) error {
	c, o := db.Collection("lost"), &outcome{}
	_, err := c.InsertOne(ctx, item{ID: 1})
	o.must(err)
	o.must(db.Client().Database("admin").RunCommand(ctx, D{
		{Key: "configureFailPoint", Value: "onPrimaryTransactionalWrite"},
		{Key: "mode", Value: D{{Key: "times", Value: 1}}},
	}).Err())
	if o.err != nil {
		return o.err
	}
	updated, err := c.UpdateOne(ctx, byID(1), increment(1))
	if err != nil {
		return err
	}
	expect(o, "modified", updated.ModifiedCount, 1)
	var found item
	o.must(c.FindOne(ctx, byID(1)).Decode(&found))
	expect(o, "n", found.N, 1)
	return o.err
}

func failOver(ctx context.Context, db *Database) error {
	c := db.Collection("failover")
	for i := range 200 {
		if i == 100 {
			err := db.Client().Database("admin").RunCommand(ctx, D{
				{Key: "replSetStepDown", Value: 2}, {Key: "secondaryCatchUpPeriodSecs", Value: 2},
			}).Err()
			if err != nil {
				return err
			}
		}
		if _, err := c.InsertOne(ctx, byID(i)); err != nil {
			return fmt.Errorf("insert %d: %w", i, err)
		}
		if err := c.FindOne(ctx, byID(i)).Err(); err != nil {
			return fmt.Errorf("find %d: %w", i, err)
		}
	}
	o := &outcome{}
	count, err := c.CountDocuments(ctx, D{})
	o.must(err)
	expect(o, "documents", count, 200)
	return o.err
}
