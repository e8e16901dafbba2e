package mongo

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

var (
	deleteOneFields  = supported("Collation", "Comment", "Hint", "Let", "Internal")
	deleteManyFields = deleteOneFields
)

// deleteArguments are the arguments of one delete.
type deleteArguments struct {
	filter    any
	multi     bool
	collation *options.Collation
	comment   any
	hint      any
	let       any
	internals internals
}

// DeleteOne deletes one document that matches the filter. It is a retryable write. After a WriteConcernError it
// returns the result and the error.
func (coll *Collection) DeleteOne(
	ctx context.Context, filter any, opts ...options.Lister[options.DeleteOneOptions],
) (*DeleteResult, error) {
	o, err := writeArguments(coll, deleteOneFields, opts)
	if err != nil {
		return nil, err
	}
	return coll.delete(ctx, &deleteArguments{
		filter: filter, collation: o.Collation, comment: o.Comment, hint: o.Hint, let: o.Let, internals: internalsOf(opts, o),
	})
}

// DeleteMany deletes all documents that match the filter. It is retried for overload only, because some of the documents
// may have been deleted (Retryable Writes specification). After a WriteConcernError it returns the result and the error.
func (coll *Collection) DeleteMany(
	ctx context.Context, filter any, opts ...options.Lister[options.DeleteManyOptions],
) (*DeleteResult, error) {
	o, err := writeArguments(coll, deleteManyFields, opts)
	if err != nil {
		return nil, err
	}
	return coll.delete(ctx, &deleteArguments{
		filter: filter, multi: true, collation: o.Collation, comment: o.Comment, hint: o.Hint, let: o.Let,
		internals: internalsOf(opts, o),
	})
}

func (coll *Collection) delete(ctx context.Context, a *deleteArguments) (*DeleteResult, error) {
	s := newScratch()
	defer s.release()
	if err := coll.appendDelete(s, a); err != nil {
		return nil, err
	}
	kind := deleteOneKind
	if a.multi {
		kind = deleteManyKind
	}
	cmd := &statementCommand{writeCommand: writeCommand{
		coll: coll, kind: kind, statements: s.b, hint: a.hint,
	}}
	given := writeExtras{comment: a.comment, let: a.let, internals: a.internals}
	var err error
	if cmd.extras, cmd.ending, err = given.encode(coll.scope.codec, kind.command); err != nil {
		return nil, err
	}
	return cmd.deleteResult(ctx)
}

// appendDelete writes the statement of a delete command.
func (coll *Collection) appendDelete(s *scratch, a *deleteArguments) error {
	limit := int32(1)
	if a.multi {
		limit = 0
	}
	var at int
	at, s.b = wire.BeginDocument(s.b)
	if err := coll.appendDeleteFields(s, "q", wire.AppendInt32(nil, "limit", limit), a); err != nil {
		return err
	}
	s.b = wire.EndDocument(s.b, at)
	return nil
}

// appendDeleteFields writes the fields of a statement. The filter has another key in the command bulkWrite. extent is the
// element that follows it: how many documents may be deleted.
func (coll *Collection) appendDeleteFields(s *scratch, filterKey string, extent []byte, a *deleteArguments) error {
	x := extras{codec: coll.scope.codec, b: extent}
	x.collation(a.collation)
	x.hint(a.hint)
	if x.err != nil {
		return x.err
	}
	if err := coll.appendNamed(s, filterKey, a.filter); err != nil {
		return err
	}
	s.b = append(s.b, x.b...)
	return nil
}
