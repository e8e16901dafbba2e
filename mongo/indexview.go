package mongo

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

var (
	createIndexesFields = supported("CommitQuorum", "Internal")
	dropIndexesFields   = supported("Internal")
	listIndexesFields   = supported("BatchSize", "Internal")
)

// IndexView is a handle for the indexes of a collection. It is safe for concurrent use.
type IndexView struct{ coll *Collection }

// Indexes returns a handle for the collection's indexes.
func (coll *Collection) Indexes() IndexView { return IndexView{coll} }

// CreateOne creates an index and returns its name. It is retried for overload only.
func (iv IndexView) CreateOne(
	ctx context.Context, model IndexModel, opts ...options.Lister[options.CreateIndexesOptions],
) (string, error) {
	names, err := iv.CreateMany(ctx, []IndexModel{model}, opts...)
	if err != nil {
		return "", err
	}
	return names[0], nil
}

// CreateMany creates indexes by one command and returns their names. It is retried for overload only.
func (iv IndexView) CreateMany(
	ctx context.Context, models []IndexModel, opts ...options.Lister[options.CreateIndexesOptions],
) ([]string, error) {
	coll := iv.coll
	o, err := writeArguments(coll, createIndexesFields, opts)
	if err != nil {
		return nil, err
	}
	x := extras{b: wire.AppendString(nil, "createIndexes", coll.name), codec: coll.scope.codec}
	names := make([]string, len(models))
	at, b := wire.BeginArray(x.b, "indexes")
	x.b = b
	for i, model := range models {
		if names[i], err = x.index(wire.ArrayKey(i), model); err != nil {
			return nil, err
		}
	}
	x.b = wire.EndDocument(x.b, at)
	cmd := &plainCommand{ending: x.ending(internalsOf(opts, o))}
	if o.CommitQuorum != nil {
		cmd.needs, cmd.since = "CreateIndexesOptions.CommitQuorum", 9 // MongoDB 4.4
		x.value("commitQuorum", o.CommitQuorum)
	}
	if cmd.elements = x.b; x.err != nil {
		return nil, x.err
	}
	if err := coll.db.define(ctx, coll.name, "createIndexes", coll.scope.writeConcern, cmd); err != nil {
		return nil, err
	}
	return names, nil
}

// DropOne drops the index with that name. The name "*", which means all, is ErrMultipleIndexDrop. It is retried for
// overload only.
func (iv IndexView) DropOne(ctx context.Context, name string, opts ...options.Lister[options.DropIndexesOptions]) error {
	if name == "*" {
		return ErrMultipleIndexDrop
	}
	return iv.drop(ctx, name, opts)
}

// DropAll drops all indexes of the collection except that of _id. It is retried for overload only.
func (iv IndexView) DropAll(ctx context.Context, opts ...options.Lister[options.DropIndexesOptions]) error {
	return iv.drop(ctx, "*", opts)
}

// DropWithKey drops the index with these keys. It is retried for overload only.
func (iv IndexView) DropWithKey(
	ctx context.Context, keySpecDocument any, opts ...options.Lister[options.DropIndexesOptions],
) error {
	if unordered(keySpecDocument) {
		return ErrMapForOrderedArgument{ParamName: "keySpecDocument"}
	}
	s := newScratch()
	defer s.release()
	keys, err := iv.coll.scope.codec.document(s, keySpecDocument)
	if err != nil {
		return err
	}
	return iv.drop(ctx, bson.Raw(keys), opts)
}

func (iv IndexView) drop(ctx context.Context, index any, opts []options.Lister[options.DropIndexesOptions]) error {
	coll := iv.coll
	o, err := writeArguments(coll, dropIndexesFields, opts)
	if err != nil {
		return err
	}
	x := extras{b: wire.AppendString(nil, "dropIndexes", coll.name)}
	x.value("index", index)
	end := x.ending(internalsOf(opts, o))
	if x.err != nil {
		return x.err
	}
	return coll.db.define(ctx, coll.name, "dropIndexes", coll.scope.writeConcern, &plainCommand{elements: x.b, ending: end})
}

// List returns a cursor for the descriptions of the collection's indexes. If the collection does not exist, there are
// none. It is a retryable read on the primary.
func (iv IndexView) List(ctx context.Context, opts ...options.Lister[options.ListIndexesOptions]) (*Cursor, error) {
	coll := iv.coll
	o, err := arguments(coll, listIndexesFields, opts)
	if err != nil {
		return nil, err
	}
	x := extras{b: wire.AppendString(nil, "listIndexes", coll.name)}
	x.cursor("ListIndexesOptions", o.BatchSize)
	end := x.ending(internalsOf(opts, o))
	if x.err != nil {
		return nil, x.err
	}
	cursor, err := coll.db.openList(ctx, coll.name, "listIndexes", coll.scope, &plainCommand{elements: x.b, ending: end}, o.BatchSize)
	if isNamespaceNotFound(err) {
		return NewCursorFromDocuments(nil, nil, coll.scope.codec.registry)
	}
	return cursor, err
}

func isNamespaceNotFound(err error) bool {
	var refused CommandError
	return errors.As(err, &refused) && refused.Code == codeNamespaceNotFound
}

// ListSpecifications returns the descriptions of the collection's indexes. If the collection does not exist, there are
// none. It is a retryable read on the primary.
func (iv IndexView) ListSpecifications(
	ctx context.Context, opts ...options.Lister[options.ListIndexesOptions],
) ([]IndexSpecification, error) {
	cursor, err := iv.List(ctx, opts...)
	if err != nil {
		return nil, err
	}
	found := []IndexSpecification{}
	err = each(ctx, cursor, func(index listedIndex) {
		found = append(found, index.specification(iv.coll.db.name, iv.coll.name))
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// listedIndex is a document of listIndexes.
type listedIndex struct {
	Name               string   `bson:"name"`
	Key                bson.Raw `bson:"key"`
	Version            int32    `bson:"v"`
	ExpireAfterSeconds *int32   `bson:"expireAfterSeconds"`
	Sparse             *bool    `bson:"sparse"`
	Unique             *bool    `bson:"unique"`
	Clustered          *bool    `bson:"clustered"`
}

func (i *listedIndex) specification(database, collection string) IndexSpecification {
	return IndexSpecification{
		Name: i.Name, Namespace: fmt.Sprintf("%s.%s", database, collection), KeysDocument: i.Key, Version: i.Version,
		ExpireAfterSeconds: i.ExpireAfterSeconds, Sparse: i.Sparse, Unique: i.Unique, Clustered: i.Clustered,
	}
}
