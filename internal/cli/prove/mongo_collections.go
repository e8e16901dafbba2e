package prove

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"

	"github.com/holdfast-db/holdfast/mongo/once"
)

// Cursor is the cursor type of a driver.
type Cursor interface {
	once.Cursor
	All(ctx context.Context, results any) error
}

// Collection is the collection type of a driver with the official options. Such drivers have the same methods, and
// only the cursor types differ.
type Collection[C Cursor] interface{ once.Source[C] }

// Collections implements Update, Once and Read of a [Client]. Both fields are the experiment's collection: Written with the
// client's options, Audit with AuditOptions.
type Collections[C Cursor] struct{ Written, Audit Collection[C] }

// AuditOptions returns the options of the collection for Read: read concern "majority", or "local" for a standalone.
func AuditOptions(t Target) *options.CollectionOptionsBuilder {
	level := readconcern.Majority()
	if t.Standalone {
		level = readconcern.Local()
	}
	return options.Collection().SetReadConcern(level)
}

// Update implements [Client].
func (c Collections[C]) Update(ctx context.Context, u Update) error {
	_, err := c.Written.UpdateOne(ctx, u.Filter, u.Change, options.UpdateOne().SetUpsert(u.Upsert))
	return err
}

// Once implements [Client]. A document remembers all its operations as finished, so the limit of the guarantee is not reached.
func (c Collections[C]) Once(through func(once.Commands) once.Commands) (*once.Collection, error) {
	return once.New[C](passing[C]{through(c.Written), c.Written}, once.Options{Finished: MaxPerDocument})
}

// passing is a source whose commands pass through a function.
type passing[C Cursor] struct {
	once.Commands
	source once.Source[C]
}

// Find implements [once.Source].
func (p passing[C]) Find(ctx context.Context, filter any, opts ...options.Lister[options.FindOptions]) (C, error) {
	return p.source.Find(ctx, filter, opts...)
}

// Read implements [Client].
func (c Collections[C]) Read(ctx context.Context) ([]bson.Raw, error) {
	cursor, err := c.Audit.Find(ctx, bson.D{})
	if err != nil {
		return nil, err
	}
	var documents []bson.Raw
	err = cursor.All(ctx, &documents)
	return documents, err
}
