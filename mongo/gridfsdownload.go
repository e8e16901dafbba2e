package mongo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// downloadBatch is how many bytes of chunks a download asks for at once, if the file is larger.
const downloadBatch = 8 << 20

// GridFSDownloadStream reads a file of GridFS. It is not safe for concurrent use.
type GridFSDownloadStream struct {
	file      *GridFSFile
	ctx       context.Context //nolint:containedctx // io.Reader has none
	cancel    context.CancelFunc
	cursor    *Cursor // of the chunks, nil if there are none
	chunkSize int64
	n         int64  // the number of the next chunk
	unread    []byte // of the newest chunk
	left      int64  // bytes of the chunks that did not come yet
	err       error  // of the latest chunk
	closed    bool
}

// OpenDownloadStream returns a stream that reads a file, or ErrFileNotFound. ctx is for all that the stream does.
func (b *GridFSBucket) OpenDownloadStream(ctx context.Context, fileID any) (*GridFSDownloadStream, error) {
	id, err := b.idOf(fileID)
	if err != nil {
		return nil, err
	}
	return b.openDownload(ctx, equals("_id", id), options.FindOne())
}

var gridFSNameFields = supported("Revision")

// OpenDownloadStreamByName returns a stream that reads a file with a name, or ErrFileNotFound: without a revision the newest one; 0 is the
// oldest one, 1 the next, -2 that before the newest one. ctx is for all that the stream does.
func (b *GridFSBucket) OpenDownloadStreamByName(
	ctx context.Context, filename string, opts ...options.Lister[options.GridFSNameOptions],
) (*GridFSDownloadStream, error) {
	o, err := collect(gridFSNameFields, opts)
	if err = cmp.Or(err, b.refused()); err != nil {
		return nil, err
	}
	direction, skip := int32(1), int64(valueOr(o.Revision, -1))
	if skip < 0 {
		direction, skip = -1, -skip-1
	}
	order := options.FindOne().SetSort(bson.D{{Key: "uploadDate", Value: direction}}).SetSkip(skip)
	return b.openDownload(ctx, bson.D{{Key: "filename", Value: filename}}, order)
}

func (b *GridFSBucket) openDownload(ctx context.Context, filter bson.D, order *options.FindOneOptionsBuilder) (*GridFSDownloadStream, error) {
	ctx, cancel := b.db.client.withTimeout(ctx)
	d := &GridFSDownloadStream{ctx: ctx, cancel: cancel}
	if err := d.open(b, filter, order); err != nil {
		cancel()
		return nil, err
	}
	return d, nil
}

func (d *GridFSDownloadStream) open(b *GridFSBucket, filter bson.D, order *options.FindOneOptionsBuilder) error {
	found := b.files.FindOne(d.ctx, filter, order)
	doc, err := found.Raw()
	if errors.Is(err, ErrNoDocuments) {
		return ErrFileNotFound
	}
	if err != nil {
		return err
	}
	if d.file, err = b.decodeFile(doc); err != nil {
		return err
	}
	if d.left, d.chunkSize = d.file.Length, int64(d.file.ChunkSize); d.left == 0 {
		return nil
	}
	if d.chunkSize <= 0 {
		return ErrMissingGridFSChunkSize
	}
	find := options.Find().SetSort(bson.D{{Key: "n", Value: int32(1)}})
	if n := max(downloadBatch/d.chunkSize, 1); d.left > n*d.chunkSize {
		find.SetBatchSize(int32(n)) //nolint:gosec // at most downloadBatch
	}
	use := cursorUse{limited: true, passing: true}
	d.cursor, err = b.chunks.find(d.ctx, equals("files_id", doc.Lookup("_id")), use, []options.Lister[options.FindOptions]{find})
	return err
}

// decodeFile decodes the document of a file with the options of the database, which GridFSFile by itself does not know.
func (b *GridFSBucket) decodeFile(doc bson.Raw) (*GridFSFile, error) {
	var f struct {
		ID         any       `bson:"_id"`
		Length     int64     `bson:"length"`
		ChunkSize  int32     `bson:"chunkSize"`
		UploadDate time.Time `bson:"uploadDate"`
		Name       string    `bson:"filename"`
		Metadata   bson.Raw  `bson:"metadata"`
	}
	if err := b.files.scope.codec.unmarshal(doc, &f); err != nil {
		return nil, fmt.Errorf("mongo: the document of the file: %w", err)
	}
	return (*GridFSFile)(&f), nil
}

// GetFile returns the description of the file.
func (d *GridFSDownloadStream) GetFile() *GridFSFile { return d.file }

// Read implements [io.Reader]. It fills p, except at the end of the file and if an error stops it. It returns ErrMissingChunk and
// ErrWrongSize if the chunks are not those of the file.
func (d *GridFSDownloadStream) Read(p []byte) (int, error) {
	if err := d.unusable(); err != nil {
		return 0, err
	}
	read := 0
	for read < len(p) {
		if len(d.unread) == 0 {
			if err := d.next(); err == io.EOF && read > 0 { //nolint:errorlint // it is that value itself
				return read, nil
			} else if err != nil {
				return read, err
			}
		}
		n := copy(p[read:], d.unread)
		d.unread, read = d.unread[n:], read+n
	}
	return read, nil
}

func (d *GridFSDownloadStream) unusable() error {
	if d.closed || d.file == nil {
		return ErrStreamClosed
	}
	return nil
}

// next reads the next chunk with data. It returns io.EOF at the end of the file, and an error again and again.
func (d *GridFSDownloadStream) next() error {
	switch {
	case d.err != nil:
	case d.left == 0:
		d.err = io.EOF
	case d.cursor.Next(d.ctx):
		d.err = d.accept(d.cursor.Current)
	default:
		d.err = cmp.Or(d.cursor.Err(), ErrMissingChunk)
	}
	return d.err
}

// accept takes the data of a chunk.
func (d *GridFSDownloadStream) accept(chunk bson.Raw) error {
	n, data := int64(-1), []byte(nil)
	for it := wire.Elements(chunk); it.Next(); {
		switch string(it.Key) {
		case "n":
			if number, ok := it.Int64(); ok {
				n = number
			}
		case "data":
			_, data, _ = bson.RawValue{Type: it.Type, Value: it.Value}.BinaryOK()
		}
	}
	if n != d.n {
		return ErrMissingChunk
	}
	if int64(len(data)) != min(d.chunkSize, d.left) {
		return ErrWrongSize
	}
	d.n, d.unread, d.left = n+1, data, d.left-int64(len(data))
	return nil
}

// Skip reads up to skip bytes and drops them. It returns how many there were.
func (d *GridFSDownloadStream) Skip(skip int64) (int64, error) {
	if err := d.unusable(); err != nil {
		return 0, err
	}
	skipped := int64(0)
	for skipped < skip {
		if len(d.unread) == 0 {
			if err := d.next(); err != nil {
				if err == io.EOF { //nolint:errorlint // it is that value itself
					err = nil
				}
				return skipped, err
			}
		}
		n := min(skip-skipped, int64(len(d.unread)))
		d.unread, skipped = d.unread[n:], skipped+n
	}
	return skipped, nil
}

// writeTo writes the rest of the file.
func (d *GridFSDownloadStream) writeTo(w io.Writer) (int64, error) {
	written := int64(0)
	for {
		if err := d.next(); err != nil {
			if err == io.EOF { //nolint:errorlint // it is that value itself
				err = nil
			}
			return written, err
		}
		n, err := w.Write(d.unread)
		written += int64(n)
		if err == nil && n < len(d.unread) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return written, err
		}
	}
}

// Close ends the stream.
func (d *GridFSDownloadStream) Close() error {
	if err := d.unusable(); err != nil {
		return err
	}
	d.closed = true
	defer d.cancel()
	if d.cursor == nil {
		return nil
	}
	d.unread = nil
	d.cursor.recycle()
	return d.cursor.closeAfter(d.ctx)
}

// DownloadToStream writes a file to a writer and returns how many bytes it wrote. If there is no such file, it returns ErrFileNotFound.
func (b *GridFSBucket) DownloadToStream(ctx context.Context, fileID any, stream io.Writer) (int64, error) {
	d, err := b.OpenDownloadStream(ctx, fileID)
	if err != nil {
		return 0, err
	}
	return d.toTheEnd(stream)
}

// DownloadToStreamByName writes a file with a name, of which OpenDownloadStreamByName says which one, to a writer.
func (b *GridFSBucket) DownloadToStreamByName(
	ctx context.Context, filename string, stream io.Writer, opts ...options.Lister[options.GridFSNameOptions],
) (int64, error) {
	d, err := b.OpenDownloadStreamByName(ctx, filename, opts...)
	if err != nil {
		return 0, err
	}
	return d.toTheEnd(stream)
}

func (d *GridFSDownloadStream) toTheEnd(w io.Writer) (n int64, err error) {
	defer func() { err = cmp.Or(err, d.Close()) }() // also if the writer panics
	return d.writeTo(w)
}
