// Package driver puts the official driver and ours behind one interface, so that one script can be run by both.
package driver

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The names of the drivers.
const (
	NameOurs     = "ours"
	NameOfficial = "official"
)

// Names are both, in the order in which tables show them.
func Names() []string { return []string{NameOfficial, NameOurs} }

// Client is a driver's client.
type Client interface {
	// Ping runs a ping on the primary as a plain command, which is never retried.
	Ping(ctx context.Context) error
	Collection(database, name string) Collection
	// Database returns the driver's own database, with all options.
	Database(name string) NativeDatabase
	Disconnect(ctx context.Context) error
}

// Collection is a driver's collection. Errors are the driver's own, unchanged.
type Collection interface {
	InsertOne(ctx context.Context, document any) (id any, err error)
	InsertMany(ctx context.Context, documents []any) (ids []any, err error)
	// FindOne decodes the document into result.
	FindOne(ctx context.Context, filter, result any) error
	// FindAll reads a cursor to its end, sorted by _id, in batches of the given size.
	FindAll(ctx context.Context, filter any, batch int32) ([]bson.Raw, error)
	UpdateOne(ctx context.Context, filter, update any) (modified int64, err error)
	ReplaceOne(ctx context.Context, filter, replacement any) (modified int64, err error)
	DeleteOne(ctx context.Context, filter any) (deleted int64, err error)
	// FindOneAndUpdate decodes the document as it is after the update into result.
	FindOneAndUpdate(ctx context.Context, filter, update, result any) error
	Drop(ctx context.Context) error
}

// Connect connects the named driver.
func Connect(name string, o *options.ClientOptions) (Client, error) {
	switch name {
	case NameOurs:
		return connectOurs(o)
	case NameOfficial:
		return connectOfficial(o)
	default:
		return nil, fmt.Errorf("no driver is called %q", name)
	}
}
