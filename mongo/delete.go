package mongo

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

var deleteOneFields = honoured("Collation", "Comment", "Hint", "Let")

// DeleteOne deletes one document that matches the filter. It is a retryable write. After a WriteConcernError it
// returns the result and the error.
func (coll *Collection) DeleteOne(
	ctx context.Context, filter any, opts ...options.Lister[options.DeleteOneOptions],
) (*DeleteResult, error) {
	o, err := writeArguments(coll, deleteOneFields, opts)
	if err != nil {
		return nil, err
	}
	s := newScratch()
	defer s.release()
	statement := extras{codec: coll.scope.codec}
	statement.collation(o.Collation)
	statement.hint(o.Hint)
	command := extras{codec: coll.scope.codec}
	command.value("comment", o.Comment)
	command.document("let", o.Let)
	if err := firstError(statement.err, command.err); err != nil {
		return nil, err
	}
	var at int
	at, s.b = wire.BeginDocument(s.b)
	if err := coll.appendNamed(s, "q", filter); err != nil {
		return nil, err
	}
	s.b = wire.AppendInt32(s.b, "limit", 1)
	s.b = wire.EndDocument(append(s.b, statement.b...), at)
	cmd := &statementCommand{
		name: "delete", identifier: "deletes", coll: coll, statement: s.b, extras: command.b,
		hint: o.Hint, hintSince: hintWireVersion,
	}
	err = cmd.run(ctx, retry.EffectNotIdempotent)
	r := &DeleteResult{DeletedCount: cmd.n, Acknowledged: acknowledged(ctx, coll.scope.writeConcern)}
	if err != nil {
		return acknowledgedAnyway(r, err)
	}
	return r, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
