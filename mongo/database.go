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
	"github.com/holdfast-db/holdfast/retry"
)

// Database is a handle for a database. It is safe for concurrent use.
type Database struct {
	client *Client
	name   string
	scope  scope
	err    error // the error of its options, which its operations return
}

// Client returns the client that the database belongs to.
func (db *Database) Client() *Client { return db.client }

// Name returns the database's name.
func (db *Database) Name() string { return db.name }

// databaseArguments returns the options of a call. It returns an error if they, or the options of the database, are
// refused.
func databaseArguments[T any](db *Database, f fields, opts []options.Lister[T]) (T, error) {
	o, err := collect(f, opts)
	return o, cmp.Or(err, db.err)
}

// databaseWriteArguments also returns an error if the database's write concern is refused.
func databaseWriteArguments[T any](db *Database, f fields, opts []options.Lister[T]) (T, error) {
	o, err := databaseArguments(db, f, opts)
	return o, cmp.Or(err, db.scope.writeRefused)
}

// The errors of empty names. The server would run an aggregate without a collection on the whole database.
var (
	errEmptyDatabaseName   = errors.New("database name cannot be empty")
	errEmptyCollectionName = errors.New("collection name cannot be empty")
)

// Collection returns a handle for a collection. Options that are not given come from the database. An empty name, or an
// option that is not supported, is an error of the handle's operations.
func (db *Database) Collection(name string, opts ...options.Lister[options.CollectionOptions]) *Collection {
	o, err := collect(collectionFields, opts)
	if err == nil {
		err = db.err
	}
	if err == nil && name == "" {
		err = errEmptyCollectionName
	}
	if err != nil {
		return &Collection{db: db, name: name, err: err}
	}
	return &Collection{db: db, name: name, scope: db.scope.narrow(db.client, scopeOptions(o))}
}

var (
	runCmdFields = supported("ReadPreference")
	pingCommand  = bson.D{{Key: "ping", Value: int32(1)}}
)

// RunCommand runs a command and returns the reply. The client adds no read concern, no write concern, no transaction
// number. It adds a maxTimeMS if there is a deadline and the command has none. The command goes to the primary, unless
// the options have a read preference. It is retried for overload only. A reply with writeErrors or a writeConcernError
// is a WriteException.
func (db *Database) RunCommand(
	ctx context.Context, command any, opts ...options.Lister[options.RunCmdOptions],
) *SingleResult {
	result := &SingleResult{codec: db.scope.codec}
	op, err := db.rawOperation(command, opts, func(reply *operation.Reply) error {
		result.raw, result.Acknowledged = append(bson.Raw(nil), reply.Body...), true
		return nil
	})
	if err == nil {
		err = db.client.run(ctx, op)
	}
	result.err = err
	var refused CommandError
	if errors.As(err, &refused) {
		result.raw = refused.Raw
	}
	return result
}

// RunCommandCursor runs a command whose reply has a cursor, as RunCommand does. The caller must close the cursor, or
// iterate to its end. The batch size, the comment and the maximum await time of its further batches are those that are
// set on the cursor.
func (db *Database) RunCommandCursor(
	ctx context.Context, command any, opts ...options.Lister[options.RunCmdOptions],
) (*Cursor, error) {
	var cursor *Cursor
	op, err := db.rawOperation(command, opts, func(reply *operation.Reply) error {
		if reply.Cursor == nil {
			return errNoCursor
		}
		return cursor.accept(reply)
	})
	if err != nil {
		return nil, err
	}
	cursor = newCursor(ctx, db, "", db.scope)
	cursor.readPreference = op.ReadPreference
	if err := cursor.open(ctx, op); err != nil {
		return nil, err
	}
	return cursor, nil
}

var errNoCursor = errors.New("mongo: database response does not contain a cursor; try using RunCommand instead")

// rawOperation returns the operation of a command that the application wrote. accept reads its result.
func (db *Database) rawOperation(
	command any, opts []options.Lister[options.RunCmdOptions], accept func(*operation.Reply) error,
) (*operation.Operation, error) {
	o, err := databaseArguments(db, runCmdFields, opts)
	if err != nil {
		return nil, err
	}
	cmd := &rawCommand{accept: accept}
	if err := cmd.set(db.scope.codec, command, db.client.declares); err != nil {
		return nil, err
	}
	return &operation.Operation{
		Name: cmd.name, Database: db.name, Command: cmd, Kind: operation.Generic, Idempotency: retry.NotIdempotent,
		Selection: db.client.selection(o.ReadPreference), ReadPreference: o.ReadPreference, OwnTimeLimit: cmd.timeLimited,
		OwnReadConcern: cmd.readsWithConcern,
	}, nil
}

// rawCommand is a command that the application wrote.
type rawCommand struct {
	name        string
	elements    []byte
	timeLimited bool // it has a maxTimeMS
	// readsWithConcern means that it has a readConcern.
	readsWithConcern bool
	accept           func(*operation.Reply) error
}

// set encodes the command. declares means that the client declares an API version.
func (c *rawCommand) set(codec codec, command any, declares bool) error {
	if unordered(command) {
		return ErrMapForOrderedArgument{ParamName: "cmd"}
	}
	s := &scratch{}
	doc, err := codec.document(s, command)
	if err != nil {
		return err
	}
	it := wire.Elements(doc)
	if !it.Next() {
		return errors.New("mongo: the command is empty: its first key must be the command's name")
	}
	c.name, c.elements = string(it.Key), doc[4:len(doc)-1]
	for it = wire.Elements(doc); it.Next(); {
		switch string(it.Key) {
		case "$db", "lsid", "txnNumber", "$clusterTime":
			return fmt.Errorf("mongo: the command has a field %q, which the client adds itself", it.Key)
		case "apiVersion", "apiStrict", "apiDeprecationErrors":
			if declares {
				return fmt.Errorf("mongo: the command has a field %q, which the client adds itself, because it has the option ServerAPIOptions", it.Key)
			}
		case "maxTimeMS":
			c.timeLimited = true
		case "readConcern":
			c.readsWithConcern = true
		}
	}
	return nil
}

func (c *rawCommand) AppendTo(b []byte, _ operation.Attempt) ([]byte, error) {
	return append(b, c.elements...), nil
}

func (c *rawCommand) Accept(reply *operation.Reply) error {
	return cmp.Or(c.accept(reply), writeError(reply))
}
