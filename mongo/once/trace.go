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
	abandoned // ended without a change, because the condition did not hold
	refused   // ended without a change, because the document refused the update
)

// traces are the lists of a document. A token that ended without a change is among the finished ones too.
type traces struct {
	Pending []struct {
		ID bson.ObjectID `bson:"id"`
	} `bson:"pending"`
	Finished  []bson.ObjectID `bson:"finished"`
	Abandoned []bson.ObjectID `bson:"abandoned"`
	Refused   []bson.ObjectID `bson:"refused"`
}

func (l *traces) of(id bson.ObjectID) trace {
	for _, t := range l.Pending {
		if t.ID == id {
			return pending
		}
	}
	switch {
	case slices.Contains(l.Refused, id):
		return refused
	case slices.Contains(l.Abandoned, id):
		return abandoned
	case slices.Contains(l.Finished, id):
		return finished
	}
	return none
}

// lookError is the error of a read that was to show what a step has done. Then nobody knows.
type lookError struct{ error }

// Error returns the read's error after the reason for the read.
func (e lookError) Error() string {
	return "the document could not be read to see what was done: " + e.error.Error()
}

// Unwrap returns the read's error.
func (e lookError) Unwrap() error { return e.error }

// look reads where the document with an _id has a token.
func (c *Collection) look(ctx context.Context, key bson.RawValue, id bson.ObjectID) (trace, error) {
	document, err := c.read(ctx, key, options.Find().SetProjection(marshal(bson.D{{Key: c.field, Value: 1}})))
	switch {
	case err != nil:
		return none, lookError{err}
	case document == nil:
		return absent, nil
	}
	var l traces
	if lists, ok := document.Lookup(c.field).DocumentOK(); ok {
		if err := bson.Unmarshal(lists, &l); err != nil {
			return none, lookError{err}
		}
	}
	return l.of(id), nil
}

// read returns the document with an _id, nil if there is none.
func (c *Collection) read(ctx context.Context, key bson.RawValue, o *options.FindOptionsBuilder) (document bson.Raw, err error) {
	_, err = c.repeat(ctx, "once.look", func(ctx context.Context) error {
		document = nil
		cursor, err := c.source.find(ctx, marshal(bson.D{{Key: "_id", Value: key}}), o.SetLimit(1))
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
