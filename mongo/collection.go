package mongo

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/operation"
	"github.com/holdfast-db/holdfast/internal/topology"
	"github.com/holdfast-db/holdfast/internal/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// Collection is a handle for a collection. It is safe for concurrent use.
type Collection struct {
	db    *Database
	name  string
	scope scope
	err   error // of its options: its operations return it
}

// Name returns the collection's name.
func (coll *Collection) Name() string { return coll.name }

// Database returns the database that the collection belongs to.
func (coll *Collection) Database() *Database { return coll.db }

// write describes a write to the primary. effect is what doing it twice would mean to the application.
func (coll *Collection) write(name string, cmd operation.Command, effect retry.Effect) *operation.Operation {
	return &operation.Operation{
		Name: name, Database: coll.db.name, Command: cmd, Kind: operation.Write, Effect: effect,
		Retryable: coll.scope.writeConcern.Acknowledged(), Selection: writable, WriteConcern: coll.scope.writeConcern,
	}
}

// read describes a read by the collection's preference.
func (coll *Collection) read(name string, cmd operation.Command) *operation.Operation {
	return &operation.Operation{
		Name: name, Database: coll.db.name, Command: cmd, Kind: operation.Read, Effect: retry.ReadOnly, Retryable: true,
		Selection: coll.scope.reads, ReadPreference: coll.scope.readPreference, ReadConcern: coll.scope.readConcern,
	}
}

var dropFields = honoured()

const codeNamespaceNotFound = 26

// Drop removes the collection; one that does not exist is no error. It is not retried.
func (coll *Collection) Drop(ctx context.Context, opts ...options.Lister[options.DropCollectionOptions]) error {
	if _, err := collect(dropFields, opts); err != nil {
		return err
	}
	if coll.err != nil {
		return coll.err
	}
	op := coll.write("drop", dropCommand(coll.name), retry.Idempotent)
	op.Retryable = false
	err := coll.db.client.run(ctx, op)
	var refused CommandError
	if errors.As(err, &refused) && refused.Code == codeNamespaceNotFound {
		return nil
	}
	return err
}

type dropCommand string

func (c dropCommand) AppendTo(b []byte, _ *topology.Server) ([]byte, error) {
	return wire.AppendString(b, "drop", string(c)), nil
}

func (c dropCommand) Accept(reply *operation.Reply) error { return writeError(reply) }
