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
func (c *Collection) look(ctx context.Context, key bson.RawValue, id bson.ObjectID) (trace, error) {
	document, err := c.read(ctx, key, options.Find().SetProjection(bson.D{{Key: c.field, Value: 1}}))
	if err != nil || document == nil {
		return absent, err
	}
	var l traces
	if lists, ok := document.Lookup(c.field).DocumentOK(); ok {
		if err := bson.Unmarshal(lists, &l); err != nil {
			return none, err
		}
	}
	return l.of(id), nil
}

// read returns the document with an _id, nil if there is none.
func (c *Collection) read(ctx context.Context, key bson.RawValue, o *options.FindOptionsBuilder) (document bson.Raw, err error) {
	_, err = c.repeat(ctx, "once.look", func(ctx context.Context) error {
		document = nil
		cursor, err := c.source.find(ctx, bson.D{{Key: "_id", Value: key}}, o.SetLimit(1))
		if err != nil {
			return err
		}
		defer cursor.Close(context.WithoutCancel(ctx))
		if cursor.Next(ctx) {
			return cursor.Decode(&document)
		}
		return cursor.Err()
	})
	return document, err
}
