package once

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// trace is where a document has a token.
type trace uint8

const (
	none   trace = iota // nowhere
	absent              // there is no document
	pending
	finished
	abandoned // ended without a change
)

// traces are the lists of a document.
type traces struct {
	Pending []struct {
		ID bson.ObjectID `bson:"id"`
	} `bson:"pending"`
	Finished  []bson.ObjectID `bson:"finished"`
	Abandoned []bson.ObjectID `bson:"abandoned"`
}

func (l *traces) of(id bson.ObjectID) trace {
	for _, t := range l.Pending {
		if t.ID == id {
			return pending
		}
	}
	switch {
	case slices.Contains(l.Abandoned, id):
		return abandoned
	case slices.Contains(l.Finished, id):
		return finished
	}
	return none
}

// look reads where the document with an _id has a token.
func (c *Collection) look(ctx context.Context, key bson.RawValue, id bson.ObjectID) (at trace, err error) {
	_, err = c.repeat(ctx, "once.look", func(ctx context.Context) error {
		cursor, err := c.source.find(ctx, bson.D{{Key: "_id", Value: key}},
			options.Find().SetLimit(1).SetProjection(bson.D{{Key: c.field, Value: 1}}))
		if err != nil {
			return err
		}
		defer cursor.Close(context.WithoutCancel(ctx))
		at = absent
		if cursor.Next(ctx) {
			var document bson.Raw
			if err := cursor.Decode(&document); err != nil {
				return err
			}
			var l traces
			if lists, ok := document.Lookup(c.field).DocumentOK(); ok {
				if err := bson.Unmarshal(lists, &l); err != nil {
					return err
				}
			}
			at = l.of(id)
		}
		return cursor.Err()
	})
	return at, err
}
