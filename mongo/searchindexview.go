package mongo

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

var (
	searchIndexFields        = supported("Name", "Type")
	createSearchIndexFields  = supported()
	dropSearchIndexFields    = supported()
	updateSearchIndexFields  = supported()
	listSearchIndexesFields  = supported("AggregateOptions")
	errNilSearchDefinition   = errors.New("search index definition cannot be nil")
	errNilSearchIndexDefined = errors.New("search index model definition cannot be nil")
)

// SearchIndexView is a handle for the search indexes of a collection, which Atlas has. It is safe for concurrent use. Its
// commands have no read concern and no write concern, and are retried for overload only.
type SearchIndexView struct{ coll *Collection }

// SearchIndexes returns a handle for the collection's search indexes.
func (coll *Collection) SearchIndexes() SearchIndexView { return SearchIndexView{coll} }

// List returns a cursor for the descriptions of the collection's search indexes. A name in searchIdxOpts selects one
// index; a type is ignored, as by the official driver.
func (siv SearchIndexView) List(
	ctx context.Context, searchIdxOpts options.Lister[options.SearchIndexesOptions],
	opts ...options.Lister[options.ListSearchIndexesOptions],
) (*Cursor, error) {
	which, err := collect(searchIndexFields, []options.Lister[options.SearchIndexesOptions]{searchIdxOpts})
	if err != nil {
		return nil, err
	}
	o, err := arguments(siv.coll, listSearchIndexesFields, opts)
	if err != nil {
		return nil, err
	}
	if o.AggregateOptions == nil {
		o.AggregateOptions = &options.AggregateOptions{}
	}
	if err := aggregateFields.check("AggregateOptions", o.AggregateOptions); err != nil {
		return nil, err
	}
	stage := bson.D{}
	if which.Name != nil {
		stage = bson.D{{Key: "name", Value: *which.Name}}
	}
	s := siv.coll.scope
	s.readConcern = operation.ReadConcern{}
	a := &aggregation{db: siv.coll.db, collection: siv.coll.name, scope: &s}
	return a.run(ctx, bson.A{bson.D{{Key: "$listSearchIndexes", Value: stage}}}, o.AggregateOptions, internalsIn(*o.AggregateOptions))
}

// CreateOne creates a search index and returns its name. The server builds it in the background.
func (siv SearchIndexView) CreateOne(
	ctx context.Context, model SearchIndexModel, opts ...options.Lister[options.CreateSearchIndexesOptions],
) (string, error) {
	names, err := siv.CreateMany(ctx, []SearchIndexModel{model}, opts...)
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "", errors.New("mongo: the server's reply to createSearchIndexes names no index")
	}
	return names[0], nil
}

// CreateMany creates search indexes and returns their names. The server builds them in the background.
func (siv SearchIndexView) CreateMany(
	ctx context.Context, models []SearchIndexModel, opts ...options.Lister[options.CreateSearchIndexesOptions],
) ([]string, error) {
	coll := siv.coll
	if _, err := arguments(coll, createSearchIndexFields, opts); err != nil {
		return nil, err
	}
	x := extras{b: wire.AppendString(nil, "createSearchIndexes", coll.name), codec: coll.scope.codec}
	at, b := wire.BeginArray(x.b, "indexes")
	x.b = b
	for i, model := range models {
		x.searchIndex(wire.ArrayKey(i), model)
	}
	if x.b = wire.EndDocument(x.b, at); x.err != nil {
		return nil, x.err
	}
	var names []string
	err := coll.db.define(ctx, coll.name, "createSearchIndexes", operation.WriteConcern{}, &plainCommand{elements: x.b, accept: func(reply *operation.Reply) error {
		var err error
		names, err = searchIndexesIn(reply)
		return err
	}})
	if err != nil {
		return nil, err
	}
	return names, nil
}

func searchIndexesIn(reply *operation.Reply) ([]string, error) {
	var created struct {
		Indexes []struct {
			Name string `bson:"name"`
		} `bson:"indexesCreated"`
	}
	if err := bson.Unmarshal(reply.Body, &created); err != nil {
		return nil, fmt.Errorf("mongo: the server's reply to createSearchIndexes: %w", err)
	}
	names := make([]string, len(created.Indexes))
	for i, index := range created.Indexes {
		names[i] = index.Name
	}
	return names, nil
}

func (x *extras) searchIndex(key string, model SearchIndexModel) {
	o, err := collectBuilder(searchIndexFields, model.Options)
	if model.Definition == nil {
		err = errNilSearchIndexDefined
	}
	x.err = cmp.Or(x.err, err)
	at, b := wire.BeginEmbedded(x.b, key)
	x.b = b
	x.text("name", o.Name)
	x.text("type", o.Type)
	x.document("definition", model.Definition)
	x.b = wire.EndDocument(x.b, at)
}

// DropOne drops the search index with that name. If the collection does not exist, DropOne returns nil. The name "*" is
// ErrMultipleIndexDrop.
func (siv SearchIndexView) DropOne(
	ctx context.Context, name string, opts ...options.Lister[options.DropSearchIndexOptions],
) error {
	if name == "*" {
		return ErrMultipleIndexDrop
	}
	if _, err := arguments(siv.coll, dropSearchIndexFields, opts); err != nil {
		return err
	}
	b := wire.AppendString(nil, "dropSearchIndex", siv.coll.name)
	err := siv.coll.db.define(ctx, siv.coll.name, "dropSearchIndex", operation.WriteConcern{}, &plainCommand{elements: wire.AppendString(b, "name", name)})
	if isNamespaceNotFound(err) {
		return nil
	}
	return err
}

// UpdateOne replaces the definition of the search index with that name.
func (siv SearchIndexView) UpdateOne(
	ctx context.Context, name string, definition any, opts ...options.Lister[options.UpdateSearchIndexOptions],
) error {
	if _, err := arguments(siv.coll, updateSearchIndexFields, opts); err != nil {
		return err
	}
	if definition == nil {
		return errNilSearchDefinition
	}
	x := extras{b: wire.AppendString(nil, "updateSearchIndex", siv.coll.name), codec: siv.coll.scope.codec}
	x.text("name", &name)
	x.document("definition", definition)
	if x.err != nil {
		return x.err
	}
	return siv.coll.db.define(ctx, siv.coll.name, "updateSearchIndex", operation.WriteConcern{}, &plainCommand{elements: x.b})
}
