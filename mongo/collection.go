package mongo

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// Collection is a handle for a collection. It is safe for concurrent use.
type Collection struct {
	db    *Database
	name  string
	scope scope
	err   error // the error of its options, which its operations return
}

// Name returns the collection's name.
func (coll *Collection) Name() string { return coll.name }

// Database returns the database that the collection belongs to.
func (coll *Collection) Database() *Database { return coll.db }

// Clone returns a handle for the same collection. Options that are not given come from coll. An option that is not
// supported is an error of the handle's operations.
func (coll *Collection) Clone(opts ...options.Lister[options.CollectionOptions]) *Collection {
	o, err := collect(collectionFields, opts)
	if err == nil {
		err = coll.err
	}
	if err != nil {
		return &Collection{db: coll.db, name: coll.name, err: err}
	}
	return &Collection{db: coll.db, name: coll.name, scope: coll.scope.narrow(coll.db.client, scopeOptions(o))}
}

// arguments returns the options of a call. It returns an error if they, or the options of the collection, are
// refused, or the collection is nil or a zero value.
func arguments[T any](coll *Collection, f fields, opts []options.Lister[T]) (T, error) {
	o, err := collect(f, opts)
	switch {
	case err != nil:
	case coll == nil || coll.db == nil:
		err = errZeroCollection
	default:
		err = coll.err
	}
	return o, err
}

var errZeroCollection = errors.New("mongo: the collection was not made by Database.Collection")

// writeArguments returns the options of a write. It also returns an error if the collection's write concern is refused.
func writeArguments[T any](coll *Collection, f fields, opts []options.Lister[T]) (T, error) {
	o, err := arguments(coll, f, opts)
	if err == nil {
		err = coll.scope.writeRefused
	}
	return o, err
}

// write sets the fields of op, which must be empty, for a write. idempotency says whether applying it twice does harm.
func (coll *Collection) write(op *operation.Operation, name string, cmd operation.Command, idempotency retry.Idempotency) {
	op.Name, op.Database, op.Collection, op.Command = name, coll.db.name, coll.name, cmd
	op.Kind, op.Idempotency, op.Retryable = operation.Write, idempotency, coll.scope.writeConcern.Acknowledged()
	op.Selection, op.WriteConcern = coll.db.client.writes, coll.scope.writeConcern
}

var dropFields = supported("Internal")

const codeNamespaceNotFound = 26

// Drop drops the collection. If it does not exist, Drop returns nil. Drop is retried for overload only.
func (coll *Collection) Drop(ctx context.Context, opts ...options.Lister[options.DropCollectionOptions]) error {
	o, err := writeArguments(coll, dropFields, opts)
	if err != nil {
		return err
	}
	x := extras{b: wire.AppendString(nil, "drop", coll.name)}
	end := x.ending(internalsOf(opts, o))
	if x.err != nil {
		return x.err
	}
	err = coll.db.define(ctx, coll.name, "drop", coll.scope.writeConcern, &plainCommand{elements: x.b, ending: end})
	if isNamespaceNotFound(err) {
		return nil
	}
	return err
}
