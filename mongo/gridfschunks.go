package mongo

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// uploadBatch is how many bytes of chunks an upload collects before it sends them.
const uploadBatch = 4 << 20

// chunkWriter encodes what is written as documents of chunks, in the buffer that is sent.
type chunkWriter struct {
	fileID []byte // the element files_id
	size   int    // of a chunk
	length int64  // of what was written

	buffer scratch
	n      int32 // the number of the chunk that is being written
	ends   []int // of the complete chunks in the buffer
	start  int   // of the document of the chunk that is being written
	data   int   // where its data begin, 0 if it was not begun

	sent bool            // a command, even if it failed
	ids  []bson.ObjectID // of all chunks
}

// room returns where the next bytes of the file belong: at least as many as are wanted, unless the chunk has less room.
func (c *chunkWriter) room(wanted int) []byte {
	if c.data == 0 {
		c.begin()
	}
	used := len(c.buffer.b)
	left := c.size - (used - c.data) // data + size may be more than an int has
	c.buffer.b = slices.Grow(c.buffer.b, min(wanted, left))
	end := used + min(left, cap(c.buffer.b)-used)
	return c.buffer.b[used:end:end]
}

// extend says that n bytes of the room are used.
func (c *chunkWriter) extend(n int) {
	c.buffer.b = c.buffer.b[:len(c.buffer.b)+n]
	c.length += int64(n)
	if len(c.buffer.b)-c.data == c.size {
		c.finish()
	}
}

// headOfBinary is the length and the subtype of a binary value.
const headOfBinary = 5

func (c *chunkWriter) begin() {
	id := bson.NewObjectID()
	c.ids = append(c.ids, id)
	c.start = len(c.buffer.b)
	if c.n > 0 { // the file may be large
		c.buffer.b = slices.Grow(c.buffer.b, max(uploadBatch-c.start, 0)+c.size+len(c.fileID)+chunkMargin)
	}
	_, b := wire.BeginDocument(c.buffer.b)
	b = wire.AppendObjectID(b, "_id", id)
	b = append(b, c.fileID...)
	b = wire.AppendInt32(b, "n", c.n)
	b = wire.AppendBinary(b, "data", bson.TypeBinaryGeneric, nil)
	c.buffer.b, c.data = b, len(b)
}

// chunkMargin is more than what a document of a chunk has besides its data and files_id.
const chunkMargin = 64

// finish ends the chunk that is being written, if there is one with data.
func (c *chunkWriter) finish() {
	if c.data == 0 {
		return
	}
	length := len(c.buffer.b) - c.data
	if length == 0 {
		c.buffer.b, c.data = c.buffer.b[:c.start], 0
		return
	}
	binary.LittleEndian.PutUint32(c.buffer.b[c.data-headOfBinary:], uint32(length)) //nolint:gosec // at most an int32
	c.buffer.b = wire.EndDocument(c.buffer.b, c.start)
	c.ends = append(c.ends, len(c.buffer.b))
	c.n++
	c.data = 0
}

// check returns an error if the chunk that is being written is larger than the server's limit for a document.
func (c *chunkWriter) check(limit int) error {
	if c.data == 0 || len(c.buffer.b)-c.start <= limit {
		return nil
	}
	return fmt.Errorf("mongo: ChunkSizeBytes is %d, but the server stores no document, and so no chunk, of more than %d bytes", c.size, limit)
}

// many reports whether the complete chunks are enough for a command.
func (c *chunkWriter) many() bool { return c.data == 0 && len(c.buffer.b) >= uploadBatch }

// send inserts the complete chunks, of which none is being written.
func (c *chunkWriter) send(ctx context.Context, coll *Collection) error {
	if len(c.ends) == 0 {
		return nil
	}
	batch := newBatchesIn(ctx, &c.buffer, coll, true)
	batch.statements = make([]statement, len(c.ends))
	for i, end := range c.ends {
		batch.statements[i] = statement{kind: insertKind, model: i, end: end}
	}
	batch.request = func(i int) WriteModel {
		return &InsertOneModel{Document: bson.Raw(slices.Clone(c.buffer.b[batch.start(i):c.ends[i]]))}
	}
	c.sent = true
	err := batch.run(ctx)
	c.buffer.b, c.ends = c.buffer.b[:0], c.ends[:0]
	return err
}

// idsInDelete is how many _ids a delete has, so that it is much smaller than a document may be.
const idsInDelete = 10_000

// deleteSent deletes the chunks that this upload has sent. It names them by their own _ids, because another upload may have the same file's _id.
// The filter has that one too, for a collection that is sharded by it.
func (c *chunkWriter) deleteSent(ctx context.Context, coll *Collection, ofFile bson.D) error {
	if !c.sent {
		return nil
	}
	for ids := range slices.Chunk(c.ids, idsInDelete) {
		made := bson.E{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}
		if _, err := coll.DeleteMany(ctx, append(slices.Clip(ofFile), made)); err != nil {
			return err
		}
	}
	return nil
}
