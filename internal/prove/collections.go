package prove

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
)

// Cursor is a driver's own cursor.
type Cursor interface {
	All(ctx context.Context, results any) error
}

// Collection is a driver's own collection. Drivers that take the official options have the same methods; only the cursor
// has a type of its own.
type Collection[C Cursor] interface {
	UpdateOne(context.Context, any, any, ...options.Lister[options.UpdateOneOptions]) (*mongo.UpdateResult, error)
	Find(context.Context, any, ...options.Lister[options.FindOptions]) (C, error)
}

// Collections do Update and Read of a [Client]. Both are the experiment's collection: Written as the target wants it,
// Audit with the AuditOptions.
type Collections[C Cursor] struct{ Written, Audit Collection[C] }

// AuditOptions are the options of the collection that Read reads: read concern "majority", or "local" for a standalone.
func AuditOptions(t Target) *options.CollectionOptionsBuilder {
	level := readconcern.Majority()
	if t.Standalone {
		level = readconcern.Local()
	}
	return options.Collection().SetReadConcern(level)
}

// Update is that of [Client].
func (c Collections[C]) Update(ctx context.Context, u Update) error {
	_, err := c.Written.UpdateOne(ctx, u.Filter, u.Change, options.UpdateOne().SetUpsert(u.Upsert))
	return err
}

// Read is that of [Client].
func (c Collections[C]) Read(ctx context.Context) ([]bson.Raw, error) {
	cursor, err := c.Audit.Find(ctx, bson.D{})
	if err != nil {
		return nil, err
	}
	var documents []bson.Raw
	err = cursor.All(ctx, &documents)
	return documents, err
}
