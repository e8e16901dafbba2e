package mongo

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var bulkWriteFields = supported("BypassDocumentValidation", "Comment", "Ordered", "Let", "Internal")

// BulkWrite makes several writes with as few commands as the server's limits allow. If Ordered is true (the default), models of
// one kind that follow one another are in one command, and the first error of a model ends it. If Ordered is false, all models
// of one kind are together, and the writes after an error are made too. A command without UpdateMany and DeleteMany
// models is a retryable write; the others are retried for overload only. If a command fails as a whole, also after a
// retry, the remaining commands are not sent, even if Ordered is false. The error then matches that of the command and, if
// commands before it had errors, also a BulkWriteException with these. A write concern error does not end it.
//
// Errors of models are in a BulkWriteException; their indexes are those of models. A model that is larger than the server permits
// is one of them, with code 10334. The result counts the successful writes also after an error; it is nil if there are no models, or a
// model is nil. The client's timeout is for all commands together.
func (coll *Collection) BulkWrite(
	ctx context.Context, models []WriteModel, opts ...options.Lister[options.BulkWriteOptions],
) (*BulkWriteResult, error) {
	nothing := &BulkWriteResult{UpsertedIDs: map[int64]any{}}
	o, err := writeArguments(coll, bulkWriteFields, opts)
	if err != nil {
		return ifRefused(err, nothing), err
	}
	if len(models) == 0 {
		return nil, fmt.Errorf("invalid models: %w", ErrEmptySlice)
	}
	b := newBatches(ctx, coll, valueOr(o.Ordered, true))
	defer b.release()
	b.method = "bulkWrite"
	kinds, err := kindsOf(models)
	if err != nil {
		return nil, err
	}
	if err := b.addModels(models, kinds); err != nil {
		return nothing, err
	}
	given := writeExtras{bypass: o.BypassDocumentValidation, comment: o.Comment, let: o.Let, internals: internalsOf(opts, o)}
	if err := b.encodeExtras(given); err != nil {
		return nothing, err
	}
	b.request = func(i int) WriteModel { return models[i] }
	err = b.run(ctx)
	return &b.total, err
}

// kindsOf returns the kinds of the models' statements.
func kindsOf(models []WriteModel) ([]*writeKind, error) {
	kinds := make([]*writeKind, len(models))
	for i, model := range models {
		if isNil(model) {
			return nil, fmt.Errorf("invalid model at index %d: %w", i, ErrNilDocument)
		}
		if kinds[i] = kindOf(model); kinds[i] == nil {
			return nil, fmt.Errorf("invalid model at index %d: the type %T is unknown", i, model)
		}
	}
	return kinds, nil
}

// addModels adds the models in the order in which they are sent.
func (b *batches) addModels(models []WriteModel, kinds []*writeKind) error {
	b.makeRoom(len(models))
	add := func(i int) error {
		if err := b.addModel(i, kinds[i], models[i]); err != nil {
			return fmt.Errorf("model %d: %w", i, err)
		}
		return nil
	}
	if b.ordered {
		for i := range models {
			if err := add(i); err != nil {
				return err
			}
		}
		return nil
	}
	for _, kind := range writeKinds {
		for i := range models {
			if kinds[i] != kind {
				continue
			}
			if err := add(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// kindOf returns the kind of a model's statement, nil if the model's type is unknown.
func kindOf(model WriteModel) *writeKind {
	switch model.(type) {
	case *InsertOneModel:
		return insertKind
	case *UpdateOneModel, *ReplaceOneModel:
		return updateOneKind
	case *UpdateManyModel:
		return updateManyKind
	case *DeleteOneModel:
		return deleteOneKind
	case *DeleteManyModel:
		return deleteManyKind
	default:
		return nil
	}
}

// addModel encodes a model, which kindOf knows.
func (b *batches) addModel(i int, kind *writeKind, model WriteModel) error {
	var hint any
	var err error
	switch m := model.(type) {
	case *InsertOneModel:
		if err = b.coll.scope.codec.append(b.scratch, m.Document); err == nil {
			_, err = b.addInsert(i)
		}
		return err
	case *UpdateOneModel:
		hint, err = m.Hint, b.coll.appendUpdate(b.scratch, &updateArguments{
			filter: m.Filter, update: m.Update, arrayFilters: m.ArrayFilters, collation: m.Collation, hint: m.Hint, upsert: m.Upsert,
			sort: m.Sort,
		})
	case *ReplaceOneModel:
		hint, err = m.Hint, b.coll.appendUpdate(b.scratch, &updateArguments{
			filter: m.Filter, update: m.Replacement, replace: true, collation: m.Collation, hint: m.Hint, upsert: m.Upsert, sort: m.Sort,
		})
	case *UpdateManyModel:
		hint, err = m.Hint, b.coll.appendUpdate(b.scratch, &updateArguments{
			filter: m.Filter, update: m.Update, multi: true, arrayFilters: m.ArrayFilters, collation: m.Collation, hint: m.Hint,
			upsert: m.Upsert,
		})
	case *DeleteOneModel:
		hint, err = m.Hint, b.coll.appendDelete(b.scratch, &deleteArguments{filter: m.Filter, collation: m.Collation, hint: m.Hint})
	case *DeleteManyModel:
		hint, err = m.Hint, b.coll.appendDelete(b.scratch, &deleteArguments{
			filter: m.Filter, multi: true, collation: m.Collation, hint: m.Hint,
		})
	}
	if err == nil {
		b.add(kind, i, hint)
	}
	return err
}
