package mongo

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

var (
	updateOneFields = supported(
		"ArrayFilters", "BypassDocumentValidation", "Collation", "Comment", "Hint", "Upsert", "Let", "Sort", "Internal")
	replaceFields = supported("BypassDocumentValidation", "Collation", "Comment", "Hint", "Upsert", "Let", "Sort", "Internal")
)

// updateArguments are the arguments of one update or replacement.
type updateArguments struct {
	filter, update any
	replace        bool
	multi          bool

	arrayFilters []any
	bypass       *bool
	collation    *options.Collation
	comment      any
	hint         any
	upsert       *bool
	let          any
	sort         any

	internals
}

// UpdateOne updates one document that matches the filter. update is a document of update operators or a pipeline. It
// is a retryable write. After a WriteConcernError it returns the result and the error.
func (coll *Collection) UpdateOne(
	ctx context.Context, filter, update any, opts ...options.Lister[options.UpdateOneOptions],
) (*UpdateResult, error) {
	o, err := writeArguments(coll, updateOneFields, opts)
	if err != nil {
		return nil, err
	}
	return coll.update(ctx, &updateArguments{
		filter: filter, update: update, arrayFilters: o.ArrayFilters, bypass: o.BypassDocumentValidation,
		collation: o.Collation, comment: o.Comment, hint: o.Hint, upsert: o.Upsert, let: o.Let, sort: o.Sort, internals: internalsOf(opts, o),
	})
}

// UpdateByID is UpdateOne for the document with that _id. A nil id is ErrNilValue. A document with query operators, for example {$gt: 5}, is
// a query: an id that comes from a user should have another type.
func (coll *Collection) UpdateByID(
	ctx context.Context, id, update any, opts ...options.Lister[options.UpdateOneOptions],
) (*UpdateResult, error) {
	if id == nil {
		return nil, ErrNilValue
	}
	return coll.UpdateOne(ctx, bson.D{{Key: "_id", Value: id}}, update, opts...)
}

// ReplaceOne replaces one document that matches the filter. It is a retryable write. After a WriteConcernError it
// returns the result and the error.
func (coll *Collection) ReplaceOne(
	ctx context.Context, filter, replacement any, opts ...options.Lister[options.ReplaceOptions],
) (*UpdateResult, error) {
	o, err := writeArguments(coll, replaceFields, opts)
	if err != nil {
		return nil, err
	}
	return coll.update(ctx, &updateArguments{
		filter: filter, update: replacement, replace: true, bypass: o.BypassDocumentValidation, collation: o.Collation,
		comment: o.Comment, hint: o.Hint, upsert: o.Upsert, let: o.Let, sort: o.Sort, internals: internalsOf(opts, o),
	})
}

func (coll *Collection) update(ctx context.Context, a *updateArguments) (*UpdateResult, error) {
	s := newScratch()
	defer s.release()
	if err := coll.appendUpdate(s, a); err != nil {
		return nil, err
	}
	kind := updateOneKind
	if a.multi {
		kind = updateManyKind
	}
	cmd := &statementCommand{writeCommand: writeCommand{
		coll: coll, kind: kind, statements: s.b, hint: a.hint,
	}}
	given := writeExtras{bypass: a.bypass, comment: a.comment, let: a.let, internals: a.internals}
	var err error
	if cmd.extras, cmd.ending, err = given.encode(coll.scope.codec, kind.command); err != nil {
		return nil, err
	}
	idempotency := retry.NotIdempotent
	if a.replace {
		idempotency = retry.Idempotent
	}
	return cmd.updateResult(ctx, idempotency)
}

// appendUpdate writes the statement of an update command.
func (coll *Collection) appendUpdate(s *scratch, a *updateArguments) error {
	var at int
	at, s.b = wire.BeginDocument(s.b)
	var extent []byte
	if a.multi {
		extent = wire.AppendBool(nil, "multi", true)
	}
	if err := coll.appendUpdateFields(s, "q", "u", extent, a); err != nil {
		return err
	}
	s.b = wire.EndDocument(s.b, at)
	return nil
}

// appendUpdateFields writes the fields of a statement. The filter and the update have other keys in the command
// bulkWrite. extent is the element that follows them, if there is one: how many documents may be updated.
func (coll *Collection) appendUpdateFields(
	s *scratch, filterKey, updateKey string, extent []byte, a *updateArguments,
) error {
	x := extras{codec: coll.scope.codec, b: extent}
	x.array("arrayFilters", a.arrayFilters)
	x.collation(a.collation)
	x.hint(a.hint)
	x.boolean("upsert", a.upsert)
	x.orderedDocument("sort", a.sort)
	if x.err != nil {
		return x.err
	}
	if err := coll.appendNamed(s, filterKey, a.filter); err != nil {
		return err
	}
	if err := coll.appendChange(s, updateKey, a); err != nil {
		return err
	}
	s.b = append(s.b, x.b...)
	return nil
}

// appendNamed writes v as an embedded document under key.
func (coll *Collection) appendNamed(s *scratch, key string, v any) error {
	s.b = wire.BeginEmbeddedHead(s.b, key)
	return coll.scope.codec.append(s, v)
}

// appendChange writes the update or the replacement. It returns an error if a replacement has operators or an update
// has none.
func (coll *Collection) appendChange(s *scratch, key string, a *updateArguments) error {
	if isPipeline(a.update) {
		return coll.appendPipeline(s, key, a)
	}
	s.b = wire.BeginEmbeddedHead(s.b, key)
	at := len(s.b)
	if err := coll.scope.codec.append(s, a.update); err != nil {
		return err
	}
	switch operator, exists := startsWithOperator(s.b[at:]); {
	case a.replace && operator:
		return errors.New("replacement document cannot contain keys beginning with '$'")
	case !a.replace && !exists:
		return errors.New("update document must have at least one element")
	case !a.replace && !operator:
		return errors.New("update document must contain key beginning with '$'")
	}
	return nil
}

func (coll *Collection) appendPipeline(s *scratch, key string, a *updateArguments) error {
	if a.replace {
		return MarshalError{Value: a.update, Err: errors.New("a replacement must be a document, not a pipeline")}
	}
	pipeline, err := coll.scope.codec.pipeline(a.update)
	if err != nil {
		return err
	}
	for i, stage := range pipeline.all {
		if operator, exists := startsWithOperator(stage); !exists || !operator {
			return fmt.Errorf("mongo: stage %d of the update pipeline must begin with an operator, whose name starts with $", i)
		}
	}
	s.b = pipeline.appendTo(s.b, key)
	return nil
}

// isPipeline reports whether an update is a pipeline: any slice except a document (bson.D) or its bytes.
func isPipeline(update any) bool {
	switch update.(type) {
	case bson.D, bson.Raw, []byte, *bson.D:
		return false
	case Pipeline, bson.A, []bson.D, []bson.M:
		return true
	}
	t := reflect.TypeOf(update)
	return t != nil && t.Kind() == reflect.Slice && t.Elem() != reflect.TypeFor[bson.E]() && t.Elem().Kind() != reflect.Uint8
}
