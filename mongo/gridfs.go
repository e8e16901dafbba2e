package mongo

import (
	"context"
	"io"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// DefaultGridFSChunkSize is the default size of a chunk of a GridFS file, in bytes.
const DefaultGridFSChunkSize = official.DefaultGridFSChunkSize

// The official driver's error values of GridFS.
var (
	ErrFileNotFound           = official.ErrFileNotFound
	ErrMissingChunk           = official.ErrMissingChunk
	ErrMissingGridFSChunkSize = official.ErrMissingGridFSChunkSize
	ErrStreamClosed           = official.ErrStreamClosed
	ErrWrongSize              = official.ErrWrongSize
)

// GridFSFile describes a file in GridFS.
type GridFSFile = official.GridFSFile

// GridFSBucket has the methods of the official type, so that programs compile. Holdfast does not support GridFS: all of
// them but the getters of collections return an error that says so.
type GridFSBucket struct {
	db   *Database
	name string
}

const defaultBucket = "fs"

// GridFSBucket returns a bucket, whose methods return errors: Holdfast does not support GridFS.
func (db *Database) GridFSBucket(opts ...options.Lister[options.BucketOptions]) *GridFSBucket {
	b := &GridFSBucket{db: db, name: defaultBucket}
	for _, lister := range opts {
		if isNil(lister) {
			continue
		}
		var o options.BucketOptions
		for _, set := range lister.List() {
			if set != nil && set(&o) == nil && o.Name != nil {
				b.name = *o.Name
			}
		}
	}
	return b
}

// GetFilesCollection returns the collection of the files' descriptions.
func (b *GridFSBucket) GetFilesCollection() *Collection { return b.db.Collection(b.name + ".files") }

// GetChunksCollection returns the collection of the files' chunks.
func (b *GridFSBucket) GetChunksCollection() *Collection { return b.db.Collection(b.name + ".chunks") }

// OpenUploadStream returns an error: Holdfast does not support GridFS.
func (*GridFSBucket) OpenUploadStream(
	context.Context, string, ...options.Lister[options.GridFSUploadOptions],
) (*GridFSUploadStream, error) {
	return nil, unsupported("GridFSBucket.OpenUploadStream")
}

// OpenUploadStreamWithID returns an error: Holdfast does not support GridFS.
func (*GridFSBucket) OpenUploadStreamWithID(
	context.Context, any, string, ...options.Lister[options.GridFSUploadOptions],
) (*GridFSUploadStream, error) {
	return nil, unsupported("GridFSBucket.OpenUploadStreamWithID")
}

// UploadFromStream returns an error: Holdfast does not support GridFS.
func (*GridFSBucket) UploadFromStream(
	context.Context, string, io.Reader, ...options.Lister[options.GridFSUploadOptions],
) (bson.ObjectID, error) {
	return bson.NilObjectID, unsupported("GridFSBucket.UploadFromStream")
}

// UploadFromStreamWithID returns an error: Holdfast does not support GridFS.
func (*GridFSBucket) UploadFromStreamWithID(
	context.Context, any, string, io.Reader, ...options.Lister[options.GridFSUploadOptions],
) error {
	return unsupported("GridFSBucket.UploadFromStreamWithID")
}

// OpenDownloadStream returns an error: Holdfast does not support GridFS.
func (*GridFSBucket) OpenDownloadStream(context.Context, any) (*GridFSDownloadStream, error) {
	return nil, unsupported("GridFSBucket.OpenDownloadStream")
}

// OpenDownloadStreamByName returns an error: Holdfast does not support GridFS.
func (*GridFSBucket) OpenDownloadStreamByName(
	context.Context, string, ...options.Lister[options.GridFSNameOptions],
) (*GridFSDownloadStream, error) {
	return nil, unsupported("GridFSBucket.OpenDownloadStreamByName")
}

// DownloadToStream returns an error: Holdfast does not support GridFS.
func (*GridFSBucket) DownloadToStream(context.Context, any, io.Writer) (int64, error) {
	return 0, unsupported("GridFSBucket.DownloadToStream")
}

// DownloadToStreamByName returns an error: Holdfast does not support GridFS.
func (*GridFSBucket) DownloadToStreamByName(
	context.Context, string, io.Writer, ...options.Lister[options.GridFSNameOptions],
) (int64, error) {
	return 0, unsupported("GridFSBucket.DownloadToStreamByName")
}

// Find returns an error: Holdfast does not support GridFS.
func (*GridFSBucket) Find(context.Context, any, ...options.Lister[options.GridFSFindOptions]) (*Cursor, error) {
	return nil, unsupported("GridFSBucket.Find")
}

// Delete returns an error: Holdfast does not support GridFS.
func (*GridFSBucket) Delete(context.Context, any) error { return unsupported("GridFSBucket.Delete") }

// Rename returns an error: Holdfast does not support GridFS.
func (*GridFSBucket) Rename(context.Context, any, string) error {
	return unsupported("GridFSBucket.Rename")
}

// Drop returns an error: Holdfast does not support GridFS.
func (*GridFSBucket) Drop(context.Context) error { return unsupported("GridFSBucket.Drop") }

// GridFSUploadStream has the methods of the official type, so that programs compile. No method returns one.
type GridFSUploadStream struct {
	// FileID is the _id of the file.
	FileID any
}

// Write returns an error: Holdfast does not support GridFS.
func (*GridFSUploadStream) Write([]byte) (int, error) {
	return 0, unsupported("GridFSUploadStream.Write")
}

// Close returns an error: Holdfast does not support GridFS.
func (*GridFSUploadStream) Close() error { return unsupported("GridFSUploadStream.Close") }

// Abort returns an error: Holdfast does not support GridFS.
func (*GridFSUploadStream) Abort() error { return unsupported("GridFSUploadStream.Abort") }

// GridFSDownloadStream has the methods of the official type, so that programs compile. No method returns one.
type GridFSDownloadStream struct{}

// Read returns an error: Holdfast does not support GridFS.
func (*GridFSDownloadStream) Read([]byte) (int, error) {
	return 0, unsupported("GridFSDownloadStream.Read")
}

// Skip returns an error: Holdfast does not support GridFS.
func (*GridFSDownloadStream) Skip(int64) (int64, error) {
	return 0, unsupported("GridFSDownloadStream.Skip")
}

// Close returns an error: Holdfast does not support GridFS.
func (*GridFSDownloadStream) Close() error { return unsupported("GridFSDownloadStream.Close") }

// GetFile returns nil: Holdfast does not support GridFS.
func (*GridFSDownloadStream) GetFile() *GridFSFile { return nil }
