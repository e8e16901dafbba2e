package unified

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// cursor is a cursor or a change stream.
type cursor interface {
	Next(ctx context.Context) bool
	TryNext(ctx context.Context) bool
	Decode(to any) error
	Err() error
	Close(ctx context.Context) error
}

var (
	_ cursor = (*mongoCursor)(nil)
	_ cursor = (*mongoChangeStream)(nil)
)

// cursorOf keeps a nil pointer from becoming a cursor.
func cursorOf(c *mongoCursor, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return cursor(c), nil
}

func streamOf(c *mongoChangeStream, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return cursor(c), nil
}

var cursorOperations = map[string]function[cursor]{
	"close":                       closeCursor,
	"iterateOnce":                 iterateOnce,
	"iterateUntilDocumentOrError": iterate,
}

func iterate(ctx context.Context, c cursor, a *arguments) (any, error) {
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	if !c.Next(ctx) {
		return nil, c.Err()
	}
	return current(c)
}

func iterateOnce(ctx context.Context, c cursor, a *arguments) (any, error) {
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	if !c.TryNext(ctx) {
		return nil, c.Err()
	}
	return current(c)
}

func current(c cursor) (any, error) {
	var doc bson.Raw
	err := c.Decode(&doc)
	return doc, err
}

// closeCursor ignores the error: clients do not agree on returning it.
func closeCursor(ctx context.Context, c cursor, a *arguments) (any, error) {
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	_ = c.Close(ctx)
	return nil, nil
}
