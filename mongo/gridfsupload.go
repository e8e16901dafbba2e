package mongo

import (
	"cmp"
	"context"
	"io"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// GridFSUploadStream writes a file of GridFS. The file is there after Close, which must be called. It is not safe for concurrent use.
type GridFSUploadStream struct {
	// FileID is the _id of the file. It may be changed until the first byte is written.
	FileID any

	bucket   *GridFSBucket
	ctx      context.Context //nolint:containedctx // io.Writer has none
	cancel   context.CancelFunc
	chunks   chunkWriter
	id       bson.RawValue
	name     string
	metadata bson.Raw      // nil for none
	uploaded bson.DateTime // of the document of the file that was sent, 0 before
	err      error         // of a command: chunks are missing, so that there will be no file
	closed   bool
}

var gridFSUploadFields = supported("ChunkSizeBytes", "Metadata", "Registry")

// OpenUploadStream returns a stream that writes a new file, whose _id is a new ObjectID. ctx is for all that the stream does.
func (b *GridFSBucket) OpenUploadStream(
	ctx context.Context, filename string, opts ...options.Lister[options.GridFSUploadOptions],
) (*GridFSUploadStream, error) {
	return b.OpenUploadStreamWithID(ctx, bson.NewObjectID(), filename, opts...)
}

// OpenUploadStreamWithID returns a stream that writes a new file. ctx is for all that the stream does. The bucket's first upload makes the
// indexes of its collections, unless there is a file already.
func (b *GridFSBucket) OpenUploadStreamWithID(
	ctx context.Context, fileID any, filename string, opts ...options.Lister[options.GridFSUploadOptions],
) (*GridFSUploadStream, error) {
	o, err := collect(gridFSUploadFields, opts)
	if err = cmp.Or(err, b.refused()); err != nil {
		return nil, err
	}
	u := &GridFSUploadStream{FileID: fileID, bucket: b, name: filename}
	if u.chunks.size, err = b.sizeOfChunks(o.ChunkSizeBytes); err != nil {
		return nil, err
	}
	if err := u.takeID(); err != nil {
		return nil, err
	}
	if o.Metadata != nil {
		if u.metadata, err = b.files.scope.codec.with(o.Registry, nil).document(&scratch{}, o.Metadata); err != nil {
			return nil, inField("Metadata", o.Metadata, err)
		}
	}
	u.ctx, u.cancel = b.db.client.withTimeout(ctx)
	if err := b.makeIndexes(u.ctx); err != nil { //nolint:contextcheck // it is made from ctx
		u.cancel()
		return nil, err
	}
	return u, nil
}

// takeID takes the _id from FileID, unless a chunk has it already.
func (u *GridFSUploadStream) takeID() error {
	if len(u.chunks.ids) > 0 {
		return nil
	}
	id, err := u.bucket.idOf(u.FileID)
	if err != nil {
		return err
	}
	u.id, u.chunks.fileID = id, wire.AppendValue(nil, "files_id", id.Type, id.Value)
	return nil
}

// Write implements [io.Writer]. It sends chunks when some MiB of them are complete.
func (u *GridFSUploadStream) Write(p []byte) (int, error) {
	if err := u.unusable(); err != nil {
		return 0, err
	}
	if err := u.takeID(); err != nil {
		return 0, err
	}
	written := 0
	for len(p) > 0 {
		n := copy(u.chunks.room(len(p)), p)
		u.chunks.extend(n)
		p, written = p[n:], written+n
		if u.err = u.sendIfMany(); u.err != nil {
			return written, u.err
		}
	}
	return written, nil
}

// unusable returns why nothing can be written.
func (u *GridFSUploadStream) unusable() error {
	if u.closed || u.bucket == nil {
		return ErrStreamClosed
	}
	return u.err
}

// leastRead is how many bytes a reader is asked for at least, unless the chunk has less room.
const leastRead = 32 << 10

// mostEmptyReads is how often a reader may return no byte and no error one after the other.
const mostEmptyReads = 100

// readFrom writes all that a reader has. It returns the reader's error, or that of a command.
func (u *GridFSUploadStream) readFrom(r io.Reader) (readErr, err error) {
	for empty := 0; empty < mostEmptyReads; {
		room := u.chunks.room(leastRead)
		n, readErr := r.Read(room)
		u.chunks.extend(len(room[:n])) // panics if the reader has no such bytes
		if u.err = u.sendIfMany(); u.err != nil {
			return nil, u.err
		}
		if readErr == io.EOF {
			return nil, nil
		}
		if readErr != nil {
			return readErr, nil
		}
		if empty++; n > 0 {
			empty = 0
		}
	}
	return io.ErrNoProgress, nil
}

func (u *GridFSUploadStream) sendIfMany() error {
	if !u.chunks.many() {
		return u.chunks.check(u.bucket.db.client.limits().document)
	}
	return u.send()
}

// send inserts the complete chunks.
func (u *GridFSUploadStream) send() error {
	return u.chunks.send(u.ctx, u.bucket.chunks)
}

// Close sends what is left of the chunks, and then the document of the file. After an error there may be chunks, and it is not known whether
// there is a file: [GridFSUploadStream.Abort] deletes both.
func (u *GridFSUploadStream) Close() error {
	if err := u.unusable(); err != nil {
		return err
	}
	if err := u.takeID(); err != nil {
		return err
	}
	u.chunks.finish()
	if u.err = u.send(); u.err != nil {
		return u.err
	}
	u.uploaded = bson.DateTime(time.Now().UnixMilli())
	if _, u.err = u.bucket.files.InsertOne(u.ctx, u.file()); u.err != nil {
		if IsDuplicateKeyError(u.err) { // the file that is there is that of another upload
			u.uploaded = 0
		}
		return u.err
	}
	u.end()
	return nil
}

func (u *GridFSUploadStream) end() {
	u.closed = true
	u.cancel()
}

// file returns the document of the file.
func (u *GridFSUploadStream) file() bson.Raw {
	at, doc := wire.BeginDocument(nil)
	doc = wire.AppendValue(doc, "_id", u.id.Type, u.id.Value)
	doc = wire.AppendInt64(doc, "length", u.chunks.length)
	doc = wire.AppendInt32(doc, "chunkSize", int32(u.chunks.size)) //nolint:gosec // it was an int32
	doc = wire.AppendDateTime(doc, "uploadDate", int64(u.uploaded))
	doc = wire.AppendString(doc, "filename", u.name)
	if u.metadata != nil {
		doc = wire.AppendDocument(doc, "metadata", u.metadata)
	}
	return wire.EndDocument(doc, at)
}

// Abort deletes what the stream has sent. It can be called after an error of Close too, and again after an error of its own. What another
// upload has stored with the same FileID stays.
func (u *GridFSUploadStream) Abort() error {
	if u.closed || u.bucket == nil {
		return ErrStreamClosed
	}
	u.err = ErrStreamClosed
	if u.uploaded != 0 { // it is not known whether the file is there
		filter := append(equals("_id", u.id), bson.E{Key: "uploadDate", Value: u.uploaded}, bson.E{Key: "length", Value: u.chunks.length})
		if _, err := u.bucket.files.DeleteOne(u.ctx, filter); err != nil {
			return err
		}
	}
	if err := u.chunks.deleteSent(u.ctx, u.bucket.chunks, equals("files_id", u.id)); err != nil {
		return err
	}
	u.end()
	return nil
}

// UploadFromStream writes a file with what a reader has, and returns its _id, a new ObjectID.
func (b *GridFSBucket) UploadFromStream(
	ctx context.Context, filename string, source io.Reader, opts ...options.Lister[options.GridFSUploadOptions],
) (bson.ObjectID, error) {
	id := bson.NewObjectID()
	return id, b.UploadFromStreamWithID(ctx, id, filename, source, opts...)
}

// UploadFromStreamWithID writes a file with what a reader has. If the reader fails, the chunks are deleted and its error is returned.
func (b *GridFSBucket) UploadFromStreamWithID(
	ctx context.Context, fileID any, filename string, source io.Reader, opts ...options.Lister[options.GridFSUploadOptions],
) error {
	u, err := b.OpenUploadStreamWithID(ctx, fileID, filename, opts...)
	if err != nil {
		return err
	}
	defer u.cancel() // also if the reader panics
	readErr, err := u.readFrom(source)
	if readErr != nil {
		_ = u.Abort()
		return readErr
	}
	return cmp.Or(u.Close(), err)
}
