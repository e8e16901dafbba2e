package mongo

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var insertManyFields = honoured("BypassDocumentValidation", "Comment", "Ordered", "Internal")

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
	defer many.scratch.release()
	ids, err := many.addDocuments(v)
	if err != nil {
		return nil, err
	}
	if err := many.encodeExtras(writeExtras{bypass: o.BypassDocumentValidation, comment: o.Comment}); err != nil {
		return nil, err
	}
	many.rawData = rawDataOf(opts, o)
	many.request = func(i int) WriteModel {
		return &InsertOneModel{Document: bson.Raw(slices.Clone(many.scratch.b[many.start(i):many.statements[i].end]))}
	}
	err = many.run(ctx)
	r := &InsertManyResult{Acknowledged: acknowledged(ctx, coll.scope.writeConcern), InsertedIDs: make([]any, 0, many.done)}
	for i, id := range ids[:many.done] {
		if !many.failed[i] {
			r.InsertedIDs = append(r.InsertedIDs, id)
		}
	}
	return r, err
}

// addDocuments adds the documents of a slice and returns their _ids.
func (b *batches) addDocuments(documents reflect.Value) ([]any, error) {
	ids := make([]any, documents.Len())
	b.statements = make([]statement, 0, len(ids))
	for i := range ids {
		var err error
		if ids[i], err = b.addInsert(i, documents.Index(i).Interface()); err != nil {
			return nil, inField(fmt.Sprintf("document %d", i), documents.Index(i).Interface(), err)
		}
	}
	return ids, nil
}

// addInsert adds the insert of a document and returns its _id.
func (b *batches) addInsert(model int, document any) (any, error) {
	at := len(b.scratch.b)
	if err := b.coll.scope.codec.append(b.scratch, document); err != nil {
		return nil, err
	}
	id, err := b.coll.scope.codec.withID(b.scratch, at)
	if err == nil {
		b.add(insertKind, model, nil)
	}
	return id, err
}
