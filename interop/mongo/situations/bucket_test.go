package situations

import (
	"errors"
	"io"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// onBucket returns a bucket with one file, "f" with the _id 1, of nine bytes in chunks of four.
func onBucket(w *world) any {
	err := w.set.Insert("db.fs.files", bson.D{
		{Key: "_id", Value: int32(1)},
		{Key: "length", Value: int64(9)},
		{Key: "chunkSize", Value: int32(4)},
		{Key: "uploadDate", Value: bson.DateTime(7)},
		{Key: "filename", Value: "f"},
	})
	for n, data := range []string{"abcd", "efgh", "i"} {
		err = errors.Join(err, w.set.Insert("db.fs.chunks", bson.D{
			{Key: "_id", Value: n}, {Key: "files_id", Value: int32(1)}, {Key: "n", Value: int32(n)}, {Key: "data", Value: []byte(data)},
		}))
	}
	if err != nil {
		w.Error(err)
	}
	return w.db.GridFSBucket()
}

// content is a reader that begins again after its end, because situations share it.
type content struct{ read int }

func (c *content) Read(p []byte) (int, error) {
	n := copy(p, "jklmnopqrstuv"[c.read:])
	if c.read += n; n > 0 {
		return n, nil
	}
	c.read = 0
	return 0, io.EOF
}

// nowhere is a writer and nothing more.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

var bucketOperations = []operation{
	{"GridFSBucket.Delete", onBucket, "Delete", []any{int32(1)}, nil},
	{"GridFSBucket.DownloadToStream", onBucket, "DownloadToStream", []any{int32(1), nowhere{}}, nil},
	{"GridFSBucket.DownloadToStreamByName", onBucket, "DownloadToStreamByName", []any{"f", nowhere{}}, builderOf(options.GridFSName)},
	{"GridFSBucket.Drop", onBucket, "Drop", nil, nil},
	{"GridFSBucket.Find", onBucket, "Find", []any{none}, builderOf(options.GridFSFind)},
	{"GridFSBucket.OpenDownloadStream", onBucket, "OpenDownloadStream", []any{int32(1)}, nil},
	{"GridFSBucket.OpenDownloadStreamByName", onBucket, "OpenDownloadStreamByName", []any{"f"}, builderOf(options.GridFSName)},
	{"GridFSBucket.OpenUploadStream", onBucket, "OpenUploadStream", []any{"g"}, builderOf(options.GridFSUpload)},
	{"GridFSBucket.OpenUploadStreamWithID", onBucket, "OpenUploadStreamWithID", []any{"new", "g"}, builderOf(options.GridFSUpload)},
	{"GridFSBucket.Rename", onBucket, "Rename", []any{int32(1), "g"}, nil},
	{"GridFSBucket.UploadFromStream", onBucket, "UploadFromStream", []any{"g", new(content)}, builderOf(options.GridFSUpload)},
	{"GridFSBucket.UploadFromStreamWithID", onBucket, "UploadFromStreamWithID", []any{"new", "g", new(content)}, builderOf(options.GridFSUpload)},
}

// readStream returns what a stream has, and what its other methods return.
func readStream(d *mongo.GridFSDownloadStream, err error) (any, error) {
	if d == nil || err != nil {
		return nil, err
	}
	skipped, skipErr := d.Skip(2)
	rest, err := io.ReadAll(d)
	n, endErr := d.Read(make([]byte, 1))
	closeErr := d.Close()
	return bson.A{d.GetFile().Name, skipped, describe(skipErr), string(rest), n, describe(endErr), describe(closeErr), describe(d.Close())}, err
}

// writeStream writes a file, and returns what the methods of its stream return.
func writeStream(u *mongo.GridFSUploadStream, err error) (any, error) {
	if u == nil || err != nil {
		return nil, err
	}
	n, writeErr := u.Write([]byte("abcdefghi"))
	err = u.Close()
	return bson.A{u.FileID, n, describe(writeErr), describe(u.Abort())}, err
}

// plainIDs replaces {"$eq": id} by the _id of a file: both have one meaning, and each client has its own form.
func plainIDs(v any) {
	switch v := v.(type) {
	case bson.A:
		for _, item := range v {
			plainIDs(item)
		}
	case bson.D:
		for i, e := range v {
			if condition, ok := e.Value.(bson.D); ok && (e.Key == "_id" || e.Key == "files_id") && len(condition) == 1 && condition[0].Key == "$eq" {
				v[i].Value = condition[0].Value
				continue
			}
			plainIDs(e.Value)
		}
	}
}
