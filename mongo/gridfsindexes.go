package mongo

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// The indexes by which files and chunks are found.
var (
	filesIndex  = bson.D{{Key: "filename", Value: int32(1)}, {Key: "uploadDate", Value: int32(1)}}
	chunksIndex = bson.D{{Key: "files_id", Value: int32(1)}, {Key: "n", Value: int32(1)}}
)

// makeIndexes makes the indexes before the bucket's first upload, unless there is a file already.
func (b *GridFSBucket) makeIndexes(ctx context.Context) error {
	select {
	case b.indexes <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-b.indexes }()
	if b.indexed {
		return nil
	}
	primary := b.files.Clone(options.Collection().SetReadPreference(readpref.Primary()))
	id := options.FindOne().SetProjection(bson.D{{Key: "_id", Value: int32(1)}})
	switch err := primary.FindOne(ctx, bson.D{}, id).Err(); {
	case errors.Is(err, ErrNoDocuments):
		if err := makeIndex(ctx, b.files, filesIndex, false); err != nil {
			return err
		}
		if err := makeIndex(ctx, b.chunks, chunksIndex, true); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	b.indexed = true
	return nil
}

// makeIndex makes an index, unless there is one with these keys, which may be numbers of any type.
func makeIndex(ctx context.Context, coll *Collection, keys bson.D, unique bool) error {
	cursor, err := coll.Indexes().List(ctx)
	if err != nil {
		return fmt.Errorf("mongo: the indexes of %s: %w", coll.name, err)
	}
	defer cursor.Close(ctx)
	for cursor.Next(ctx) {
		if of, ok := cursor.Current.Lookup("key").DocumentOK(); ok && sameKeys(of, keys) {
			return nil
		}
	}
	if err := cursor.Err(); err != nil {
		return err
	}
	model := IndexModel{Keys: keys}
	if unique {
		model.Options = options.Index().SetUnique(true)
	}
	_, err = coll.Indexes().CreateOne(ctx, model)
	return err
}

// sameKeys reports whether an index has ascending keys of these names, in this order.
func sameKeys(index bson.Raw, keys bson.D) bool {
	i := 0
	for it := wire.Elements(index); it.Next(); i++ {
		direction, isNumber := it.Int64()
		if i == len(keys) || string(it.Key) != keys[i].Key || !isNumber || direction != 1 {
			return false
		}
	}
	return i == len(keys)
}
