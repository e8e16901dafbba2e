package mongo

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

var listCollectionsFields = supported("NameOnly", "BatchSize", "AuthorizedCollections", "Internal")

// ListCollections returns a cursor for the descriptions of the database's collections and views that match the filter.
// It is a retryable read on the primary.
func (db *Database) ListCollections(
	ctx context.Context, filter any, opts ...options.Lister[options.ListCollectionsOptions],
) (*Cursor, error) {
	o, err := databaseArguments(db, listCollectionsFields, opts)
	if err != nil {
		return nil, err
	}
	return db.listCollections(ctx, filter, &o)
}

// ListCollectionNames returns the names of the database's collections and views that match the filter. It is a retryable
// read on the primary.
func (db *Database) ListCollectionNames(
	ctx context.Context, filter any, opts ...options.Lister[options.ListCollectionsOptions],
) ([]string, error) {
	o, err := databaseArguments(db, listCollectionsFields, opts)
	if err != nil {
		return nil, err
	}
	nameOnly := true
	o.NameOnly = &nameOnly
	names := []string{}
	err = db.eachCollection(ctx, filter, &o, func(c listedCollection) { names = append(names, c.Name) })
	if err != nil {
		return nil, err
	}
	return names, nil
}

// ListCollectionSpecifications returns the descriptions of the database's collections and views that match the filter. It
// is a retryable read on the primary.
func (db *Database) ListCollectionSpecifications(
	ctx context.Context, filter any, opts ...options.Lister[options.ListCollectionsOptions],
) ([]CollectionSpecification, error) {
	o, err := databaseArguments(db, listCollectionsFields, opts)
	if err != nil {
		return nil, err
	}
	found := []CollectionSpecification{}
	err = db.eachCollection(ctx, filter, &o, func(c listedCollection) { found = append(found, c.specification(db.name)) })
	if err != nil {
		return nil, err
	}
	return found, nil
}

// listedCollection is a document of listCollections.
type listedCollection struct {
	Name string `bson:"name"`
	Type string `bson:"type"`
	Info struct {
		ReadOnly bool         `bson:"readOnly"`
		UUID     *bson.Binary `bson:"uuid"`
	} `bson:"info"`
	Options bson.Raw    `bson:"options"`
	IDIndex listedIndex `bson:"idIndex"`
}

func (c *listedCollection) specification(database string) CollectionSpecification {
	return CollectionSpecification{
		Name: c.Name, Type: c.Type, ReadOnly: c.Info.ReadOnly, UUID: c.Info.UUID, Options: c.Options,
		IDIndex: c.IDIndex.specification(database, c.Name),
	}
}

func (db *Database) listCollections(
	ctx context.Context, filter any, o *options.ListCollectionsOptions,
) (*Cursor, error) {
	x := extras{b: wire.AppendInt32(nil, "listCollections", 1), codec: db.scope.codec}
	x.required("filter", filter)
	x.boolean("nameOnly", o.NameOnly)
	x.boolean("authorizedCollections", o.AuthorizedCollections)
	x.cursor("ListCollectionsOptions", o.BatchSize)
	end := x.ending(internalsIn(*o))
	if x.err != nil {
		return nil, x.err
	}
	return db.openList(ctx, "", "listCollections", db.scope, &plainCommand{elements: x.b, ending: end}, o.BatchSize)
}

// eachCollection calls f with each document of listCollections.
func (db *Database) eachCollection(
	ctx context.Context, filter any, o *options.ListCollectionsOptions, f func(listedCollection),
) error {
	cursor, err := db.listCollections(ctx, filter, o)
	if err != nil {
		return err
	}
	return each(ctx, cursor, f)
}

// each decodes each document of a cursor, with the default options, and closes the cursor.
func each[T any](ctx context.Context, cursor *Cursor, f func(T)) error {
	ctx = orBackground(ctx)
	defer func() { _ = cursor.closeAfter(ctx) }()
	for cursor.Next(ctx) {
		var v T
		if err := bson.Unmarshal(cursor.Current, &v); err != nil {
			return fmt.Errorf("mongo: a document of the server's list: %w", err)
		}
		f(v)
	}
	return cursor.Err()
}
