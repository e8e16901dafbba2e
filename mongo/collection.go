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

// arguments returns the options of a call. It returns an error if they, or the options of the collection, are
// refused.
func arguments[T any](coll *Collection, f fields, opts []options.Lister[T]) (T, error) {
	o, err := collect(f, opts)
	if err == nil {
		err = coll.err
	}
	return o, err
}

// writeArguments returns the options of a write. It also returns an error if the collection's write concern is refused.
func writeArguments[T any](coll *Collection, f fields, opts []options.Lister[T]) (T, error) {
	o, err := arguments(coll, f, opts)
	if err == nil {
		err = coll.scope.writeRefused
	}
	return o, err
}

// write sets the fields of op, which must be empty, for a write. effect is the operation's Effect.
func (coll *Collection) write(op *operation.Operation, name string, cmd operation.Command, effect retry.Effect) {
	op.Name, op.Database, op.Command = name, coll.db.name, cmd
	op.Kind, op.Effect, op.Retryable = operation.Write, effect, coll.scope.writeConcern.Acknowledged()
	op.Selection, op.WriteConcern = coll.db.client.writes, coll.scope.writeConcern
}

// read sets the fields of op, which must be empty, for a read with the collection's read preference.
func (coll *Collection) read(op *operation.Operation, name string, cmd operation.Command) {
	op.Name, op.Database, op.Command = name, coll.db.name, cmd
	op.Kind, op.Effect, op.Retryable = operation.Read, retry.EffectReadOnly, true
	op.Selection, op.ReadPreference, op.ReadConcern = coll.scope.reads, coll.scope.readPreference, &coll.scope.readConcern
}

var dropFields = honoured()

const codeNamespaceNotFound = 26

// Drop drops the collection. If it does not exist, Drop returns nil. Drop is retried for overload only.
func (coll *Collection) Drop(ctx context.Context, opts ...options.Lister[options.DropCollectionOptions]) error {
	if _, err := writeArguments(coll, dropFields, opts); err != nil {
		return err
	}
	var op operation.Operation
	coll.write(&op, "drop", dropCommand(coll.name), retry.EffectIdempotent)
	op.Retryable = false
	err := coll.db.client.run(ctx, &op)
	var refused CommandError
	if errors.As(err, &refused) && refused.Code == codeNamespaceNotFound {
		return nil
	}
	return err
}

type dropCommand string

func (c dropCommand) AppendTo(b []byte, _ operation.Attempt) ([]byte, error) {
	return wire.AppendString(b, "drop", string(c)), nil
}

func (c dropCommand) Accept(reply *operation.Reply) error { return writeError(reply) }
