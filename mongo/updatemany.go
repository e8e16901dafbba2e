package mongo

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var updateManyFields = supported(
	"ArrayFilters", "BypassDocumentValidation", "Collation", "Comment", "Hint", "Upsert", "Let", "Internal")

// UpdateMany updates all documents that match the filter. update is a document of update operators or a pipeline. It is
// retried for overload only, because some of the documents may have been updated (Retryable Writes specification). After a
// WriteConcernError it returns the result and the error.
func (coll *Collection) UpdateMany(
	ctx context.Context, filter, update any, opts ...options.Lister[options.UpdateManyOptions],
) (*UpdateResult, error) {
	o, err := writeArguments(coll, updateManyFields, opts)
	if err != nil {
		return nil, err
	}
	return coll.update(ctx, &updateArguments{
		filter: filter, update: update, multi: true, arrayFilters: o.ArrayFilters, bypass: o.BypassDocumentValidation,
		collation: o.Collation, comment: o.Comment, hint: o.Hint, upsert: o.Upsert, let: o.Let, internals: internalsOf(opts, o),
	})
}
