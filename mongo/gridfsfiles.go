package mongo

import (
	"cmp"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var gridFSFindFields = supported("AllowDiskUse", "BatchSize", "Limit", "NoCursorTimeout", "Skip", "Sort")

// Find returns the documents of the files that match the filter. If the client has a timeout, it is that of the whole iteration, or the
// deadline of ctx is, if ctx has one (Client-Side Operations Timeout specification).
func (b *GridFSBucket) Find(ctx context.Context, filter any, opts ...options.Lister[options.GridFSFindOptions]) (*Cursor, error) {
	o, err := collect(gridFSFindFields, opts)
	if err = cmp.Or(err, b.refused()); err != nil {
		return nil, err
	}
	find := options.Find().SetSort(o.Sort)
	if o.AllowDiskUse != nil {
		find.SetAllowDiskUse(*o.AllowDiskUse)
	}
	if o.BatchSize != nil {
		find.SetBatchSize(*o.BatchSize)
	}
	if o.Limit != nil {
		find.SetLimit(int64(*o.Limit))
	}
	if o.NoCursorTimeout != nil {
		find.SetNoCursorTimeout(*o.NoCursorTimeout)
	}
	if o.Skip != nil {
		find.SetSkip(int64(*o.Skip))
	}
	ctx, cancel := b.db.client.withTimeout(ctx)
	defer cancel()
	return b.files.find(ctx, filter, cursorUse{limited: b.db.client.timeout > 0}, []options.Lister[options.FindOptions]{find})
}

// Delete deletes a file and its chunks. It deletes chunks also if there is no file, and returns ErrFileNotFound then.
func (b *GridFSBucket) Delete(ctx context.Context, fileID any) error {
	id, err := b.idOf(fileID)
	if err != nil {
		return err
	}
	ctx, cancel := b.db.client.withTimeout(ctx)
	defer cancel()
	result, err := b.files.DeleteOne(ctx, equals("_id", id))
	if result == nil { // the file may still be there, and needs its chunks
		return err
	}
	if err == nil && result.Acknowledged && result.DeletedCount == 0 {
		err = ErrFileNotFound
	}
	_, chunksErr := b.chunks.DeleteMany(ctx, equals("files_id", id))
	return cmp.Or(err, chunksErr)
}

// Rename gives a file another name. If there is no such file, it returns ErrFileNotFound.
func (b *GridFSBucket) Rename(ctx context.Context, fileID any, newFilename string) error {
	id, err := b.idOf(fileID)
	if err != nil {
		return err
	}
	rename := bson.D{{Key: "$set", Value: bson.D{{Key: "filename", Value: newFilename}}}}
	result, err := b.files.UpdateOne(ctx, equals("_id", id), rename)
	if err == nil && result.Acknowledged && result.MatchedCount == 0 {
		return ErrFileNotFound
	}
	return err
}

// Drop drops both collections of the bucket.
func (b *GridFSBucket) Drop(ctx context.Context) error {
	if err := b.refused(); err != nil {
		return err
	}
	ctx, cancel := b.db.client.withTimeout(ctx)
	defer cancel()
	if err := b.files.Drop(ctx); err != nil {
		return err
	}
	return b.chunks.Drop(ctx)
}

// idOf returns a file's _id as it is stored, or why the bucket cannot be used.
func (b *GridFSBucket) idOf(fileID any) (bson.RawValue, error) {
	if err := b.refused(); err != nil {
		return bson.RawValue{}, err
	}
	id, err := b.files.scope.codec.value(fileID)
	if err != nil {
		return id, inField("fileID", fileID, err)
	}
	return id, nil
}

// equals returns the filter for documents with this value. A document or a regular expression would be a condition, which finds others too.
func equals(field string, v bson.RawValue) bson.D {
	if v.Type == bson.TypeEmbeddedDocument || v.Type == bson.TypeRegex {
		return bson.D{{Key: field, Value: bson.D{{Key: "$eq", Value: v}}}}
	}
	return bson.D{{Key: field, Value: v}}
}
