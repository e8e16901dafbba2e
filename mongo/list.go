package mongo

import (
	"cmp"
	"context"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// cursor writes the document "cursor" of a command that returns one.
func (x *extras) cursor(options string, batchSize *int32) {
	at, b := wire.BeginEmbedded(x.b, "cursor")
	if batchSize != nil {
		if *batchSize < 0 {
			x.err = cmp.Or(x.err, negativeBatchSize(options, *batchSize))
		}
		b = wire.AppendInt32(b, "batchSize", *batchSize)
	}
	x.b = wire.EndDocument(b, at)
}

// openList runs a command on the primary that lists collections, or the indexes of a collection.
func (db *Database) openList(
	ctx context.Context, collection, name string, s scope, cmd *plainCommand, batchSize *int32,
) (*Cursor, error) {
	cursor := newCursor(ctx, db, "", s)
	cursor.batchSize, cursor.readPreference = valueOr(batchSize, 0), nil
	var op operation.Operation
	cmd.accept = cursor.accept
	db.client.readPrimary(&op, db.name, collection, name, cmd)
	if err := cursor.open(ctx, &op); err != nil {
		return nil, err
	}
	return cursor, nil
}
