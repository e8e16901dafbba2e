package mongo

import (
	"cmp"
	"errors"
	"fmt"

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

// GridFSBucket stores files of any length in two collections: one document for each file, and one for each chunk of it. It is safe for
// concurrent use; its streams are not. Each command of a bucket is retried as it is without GridFS. The client's timeout limits each
// method, and a stream from when it is opened to its end.
//
// It follows https://github.com/mongodb/specifications/blob/master/source/gridfs/gridfs-spec.md.
type GridFSBucket struct {
	db            *Database
	files, chunks *Collection
	chunkSize     int32
	err           error // of its options, which its methods return

	indexes chan struct{} // whoever has the token makes them
	indexed bool          // guarded by the token
}

var bucketFields = supported("Name", "ChunkSizeBytes", "WriteConcern", "ReadConcern", "ReadPreference")

const defaultBucket = "fs"

// GridFSBucket returns a bucket: "fs" with chunks of 255 KiB unless the options say otherwise. Concerns and a read preference that are not
// given come from the database. An option that is refused is an error of the bucket's methods.
func (db *Database) GridFSBucket(opts ...options.Lister[options.BucketOptions]) *GridFSBucket {
	o, err := collect(bucketFields, opts)
	name := valueOr(o.Name, defaultBucket)
	b := &GridFSBucket{
		db: db, chunkSize: valueOr(o.ChunkSizeBytes, DefaultGridFSChunkSize), err: cmp.Or(err, db.err), indexes: make(chan struct{}, 1),
	}
	scope := options.Collection()
	scope.SetReadConcern(o.ReadConcern).SetWriteConcern(o.WriteConcern).SetReadPreference(o.ReadPreference)
	b.files, b.chunks = db.Collection(name+".files", scope), db.Collection(name+".chunks", scope)
	return b
}

// GetFilesCollection returns the collection of the files' descriptions.
func (b *GridFSBucket) GetFilesCollection() *Collection { return b.files }

// GetChunksCollection returns the collection of the files' chunks.
func (b *GridFSBucket) GetChunksCollection() *Collection { return b.chunks }

var errZeroBucket = errors.New("mongo: the bucket was not made by Database.GridFSBucket")

// refused returns why the bucket cannot be used.
func (b *GridFSBucket) refused() error {
	if b == nil || b.db == nil {
		return errZeroBucket
	}
	return b.err
}

// sizeOfChunks returns the size for a file, nil for that of the bucket.
func (b *GridFSBucket) sizeOfChunks(given *int32) (int, error) {
	size := valueOr(given, b.chunkSize)
	if size < 1 {
		return 0, fmt.Errorf("mongo: ChunkSizeBytes is %d; it must be at least 1", size)
	}
	return int(size), nil
}
