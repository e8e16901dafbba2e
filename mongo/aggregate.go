package mongo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

var aggregateFields = supported(
	"AllowDiskUse", "BatchSize", "BypassDocumentValidation", "Collation", "MaxAwaitTime", "Comment", "Hint", "Let",
	"Custom", "Internal")

// aggregation is an aggregate command on a collection, or on a database if collection is empty.
type aggregation struct {
	db         *Database
	collection string
	onDatabase bool
	scope      *scope
	stages     stages
	batchSize  *int32
	extras     []byte
	ending     ending
}

func (a *aggregation) elements() []byte {
	var b []byte
	if a.onDatabase {
		b = wire.AppendInt32(nil, "aggregate", 1)
	} else {
		b = wire.AppendString(nil, "aggregate", a.collection)
	}
	b = a.stages.appendTo(b, "pipeline")
	at, b := wire.BeginEmbedded(b, "cursor")
	if a.batchSize != nil {
		b = wire.AppendInt32(b, "batchSize", *a.batchSize)
	}
	return append(wire.EndDocument(b, at), a.extras...)
}

// describe sets the fields of op, which must be empty. An aggregation that writes is a write that is not retried; it may
// run on a secondary (CRUD specification, "Read preferences and server selection").
func (a *aggregation) describe(op *operation.Operation, cmd operation.Command) {
	a.scope.read(op, a.db.name, a.collection, "aggregate", cmd)
	if a.onDatabase {
		op.Collection = ""
	}
	if a.stages.writes() {
		op.Kind, op.Idempotency, op.Retryable, op.Several = operation.Write, retry.NotIdempotent, false, true
		op.WriteConcern = a.scope.writeConcern
		selection := *a.scope.reads
		selection.WritesOutput = true
		op.Selection = &selection
	}
}

// Aggregate runs a pipeline on the collection and returns a cursor for the resulting documents. The caller must close
// the cursor, or iterate to its end. It is a retryable read, unless the last stage is $out or $merge: then it is a write
// that is not retried, with the collection's write concern.
func (coll *Collection) Aggregate(
	ctx context.Context, pipeline any, opts ...options.Lister[options.AggregateOptions],
) (*Cursor, error) {
	o, err := arguments(coll, aggregateFields, opts)
	if err != nil {
		return nil, err
	}
	a := &aggregation{db: coll.db, collection: coll.name, scope: &coll.scope}
	return a.run(ctx, pipeline, &o, internalsOf(opts, o))
}

// Aggregate runs a pipeline on the database. Its first stage makes the documents, for example $currentOp. Otherwise it is
// Collection.Aggregate.
func (db *Database) Aggregate(
	ctx context.Context, pipeline any, opts ...options.Lister[options.AggregateOptions],
) (*Cursor, error) {
	o, err := databaseArguments(db, aggregateFields, opts)
	if err != nil {
		return nil, err
	}
	a := &aggregation{db: db, onDatabase: true, scope: &db.scope}
	return a.run(ctx, pipeline, &o, internalsOf(opts, o))
}

func (a *aggregation) run(ctx context.Context, pipeline any, o *options.AggregateOptions, internal internals) (*Cursor, error) {
	var err error
	if a.stages, err = a.scope.codec.pipeline(pipeline); err != nil {
		return nil, err
	}
	if err := a.set(o, internal); err != nil {
		return nil, err
	}
	cursor := newCursor(ctx, a.db, a.collection, *a.scope)
	cursor.batchSize = valueOr(a.batchSize, 0)
	cursor.SetComment(o.Comment)
	if a.stages.watches() { // a server refuses maxTimeMS in a getMore of any other aggregation
		cursor.SetMaxAwaitTime(valueOr(o.MaxAwaitTime, 0))
	}
	var op operation.Operation
	a.describe(&op, &plainCommand{elements: a.elements(), ending: a.ending, accept: func(reply *operation.Reply) error {
		err := cursor.accept(reply)
		if e := writeConcernError(reply.WriteConcernError); err == nil && e != nil {
			return *e // the official driver's type, of this operation only
		}
		return err
	}})
	op.OwnTimeLimit = true // the server would apply maxTimeMS to the whole life of the cursor
	if err := cursor.open(ctx, &op); err != nil {
		return nil, err
	}
	return cursor, nil
}

// set checks and encodes the options.
func (a *aggregation) set(o *options.AggregateOptions, internal internals) error {
	switch writes := a.stages.writes(); {
	case writes && a.scope.writeRefused != nil:
		return a.scope.writeRefused
	case valueOr(o.BatchSize, 0) < 0:
		return negativeBatchSize("AggregateOptions", *o.BatchSize)
	case writes && valueOr(o.BatchSize, 0) == 0: // the server would not run the pipeline
	default:
		a.batchSize = o.BatchSize
	}
	if err := a.db.client.checkAwaitTime("AggregateOptions", o.MaxAwaitTime, a.stages.watches()); err != nil {
		return err
	}
	x := extras{codec: a.scope.codec}
	x.boolean("allowDiskUse", o.AllowDiskUse)
	x.boolean("bypassDocumentValidation", o.BypassDocumentValidation)
	x.collation(o.Collation)
	x.value("comment", o.Comment)
	x.hint(o.Hint)
	x.document("let", o.Let)
	x.custom(o.Custom) //nolint:staticcheck // deprecated, but supported while it exists
	a.extras, a.ending = x.b, x.ending(internal)
	return x.err
}

// custom writes fields that have no option of their own.
func (x *extras) custom(fields map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		x.value(key, fields[key])
	}
}

func negativeBatchSize(options string, n int32) error {
	return fmt.Errorf("mongo: %s.BatchSize is %d; it must not be negative", options, n)
}

// checkAwaitTime returns an error if d is negative or, for a cursor that awaits data, not less than the client's timeout
// (Client Side Operations Timeout specification, "Tailable awaitData Cursors").
func (c *Client) checkAwaitTime(options string, d *time.Duration, awaits bool) error {
	switch await := valueOr(d, 0); {
	case await < 0:
		return fmt.Errorf("mongo: %s.MaxAwaitTime is %v; it must not be negative", options, await)
	case awaits && c.timeout > 0 && await >= c.timeout:
		return fmt.Errorf("mongo: %s.MaxAwaitTime is %v; it must be less than the client's timeout of %v", options, await, c.timeout)
	}
	return nil
}
