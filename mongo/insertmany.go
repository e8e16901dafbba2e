package mongo

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var insertManyFields = supported("BypassDocumentValidation", "Comment", "Ordered", "Internal")

// InsertMany inserts documents, which must be a slice. It splits them into several commands if they exceed the limits
// of the server (maxWriteBatchSize and maxMessageSizeBytes). Each command is a retryable write. If the retry of a
// command fails, the remaining commands are not sent, even if Ordered is false. A document over the server's
// maxBsonObjectSize is not sent; it is a write error with code 10334 in the BulkWriteException, and if Ordered is false,
// the other documents are inserted. The client's timeout is for all commands together. After an error the result has
// the _ids of the documents that were inserted.
func (coll *Collection) InsertMany(
	ctx context.Context, documents any, opts ...options.Lister[options.InsertManyOptions],
) (*InsertManyResult, error) {
	o, err := writeArguments(coll, insertManyFields, opts)
	if err != nil {
		return nil, err
	}
	v := reflect.ValueOf(documents)
	switch {
	case v.Kind() != reflect.Slice:
		return nil, ErrNotSlice
	case v.Len() == 0:
		return nil, ErrEmptySlice
	}
	many := newBatches(ctx, coll, valueOr(o.Ordered, true))
	defer many.release()
	ids, err := many.addDocuments(v)
	if err != nil {
		return nil, err
	}
	given := writeExtras{bypass: o.BypassDocumentValidation, comment: o.Comment, internals: internalsOf(opts, o)}
	if err := many.encodeExtras(given); err != nil {
		return nil, err
	}
	many.request = func(i int) WriteModel {
		return &InsertOneModel{Document: bson.Raw(slices.Clone(many.scratch.b[many.start(i):many.statements[i].end]))}
	}
	err = many.run(ctx)
	return &InsertManyResult{Acknowledged: acknowledged(ctx, coll.scope.writeConcern), InsertedIDs: many.inserted(ids)}, err
}

// inserted returns the _ids of the documents that were inserted. It changes ids.
func (b *batches) inserted(ids []any) []any {
	ids = ids[:b.done]
	if len(b.failed) == 0 {
		return ids
	}
	kept := ids[:0]
	for i, id := range ids {
		if !b.failed[i] {
			kept = append(kept, id)
		}
	}
	return kept
}

// addDocuments adds the documents of a slice and returns their _ids.
func (b *batches) addDocuments(documents reflect.Value) ([]any, error) {
	ids := make([]any, documents.Len())
	b.makeRoom(len(ids))
	for i := range ids {
		b.scratch.foresee(i, len(ids))
		err := b.coll.scope.codec.appendElement(b.scratch, documents.Index(i))
		if err == nil {
			ids[i], err = b.addInsert(i)
		}
		if err != nil {
			return nil, inField(fmt.Sprintf("document %d", i), documents.Index(i).Interface(), err)
		}
	}
	return ids, nil
}

// addInsert adds the insert of the document that was just encoded and returns its _id.
func (b *batches) addInsert(model int) (any, error) {
	id, err := b.coll.scope.codec.withID(b.scratch, b.start(len(b.statements)))
	if err == nil {
		b.add(insertKind, model, nil)
	}
	return id, err
}
