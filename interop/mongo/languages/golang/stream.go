package main

import (
	"context"
	"fmt"
)

func changeStream(ctx context.Context, db *Database) error {
	c := db.Collection("stream")
	token, err := firstHalf(ctx, c)
	if err != nil {
		return err
	}
	o := &outcome{}
	insert(ctx, c, o, 6)
	_, err = c.UpdateOne(ctx, byID(1), set(D{{Key: "n", Value: 10}}))
	o.must(err)
	_, err = c.DeleteOne(ctx, byID(2))
	o.must(err)
	stream, err := c.Watch(ctx, Pipeline{}, changeStreamOptions().SetResumeAfter(token))
	o.must(err)
	if o.err != nil {
		return o.err
	}
	defer func() { _ = stream.Close(ctx) }()
	expectEvents(ctx, stream, o, "insert 5 map[]", "insert 6 map[]", "update 1 map[n:10]", "delete 2 map[]")
	insert(ctx, c, o, 7)
	expectEvents(ctx, stream, o, "insert 7 map[]")
	return o.err
}

// firstHalf reads some of the events, across a broken connection, and returns the token to go on from.
func firstHalf(ctx context.Context, c *Collection) (Raw, error) {
	stream, err := c.Watch(ctx, Pipeline{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close(ctx) }()
	o := &outcome{}
	insert(ctx, c, o, 1, 2, 3)
	expectEvents(ctx, stream, o, "insert 1 map[]", "insert 2 map[]", "insert 3 map[]")
	o.must(c.Database().Client().Database("admin").RunCommand(ctx, D{
		{Key: "configureFailPoint", Value: "failCommand"},
		{Key: "mode", Value: D{{Key: "times", Value: 1}}},
		{Key: "data", Value: D{{Key: "failCommands", Value: A{"getMore"}}, {Key: "closeConnection", Value: true}}},
	}).Err())
	insert(ctx, c, o, 4, 5)
	expectEvents(ctx, stream, o, "insert 4 map[]")
	return stream.ResumeToken(), o.err
}

func insert(ctx context.Context, c *Collection, o *outcome, ids ...int) {
	for _, id := range ids {
		_, err := c.InsertOne(ctx, byID(id))
		o.must(err)
	}
}

// expectEvents waits for events, each written as its operation, its document's _id and the fields that were updated.
func expectEvents(ctx context.Context, stream *ChangeStream, o *outcome, want ...string) {
	for _, event := range want {
		if o.err != nil {
			return
		}
		var got struct {
			Operation string `bson:"operationType"`
			Key       item   `bson:"documentKey"`
			Update    struct {
				Fields map[string]int `bson:"updatedFields"`
			} `bson:"updateDescription"`
		}
		if !stream.Next(ctx) {
			o.must(fmt.Errorf("waiting for %s: %w", event, stream.Err()))
			return
		}
		o.must(stream.Decode(&got))
		expect(o, "event", fmt.Sprint(got.Operation, " ", got.Key.ID, " ", got.Update.Fields), event)
	}
}
