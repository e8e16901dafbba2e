package mongo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// bucketOf returns a bucket with small chunks, and its server.
func bucketOf(t *testing.T) (*mongo.GridFSBucket, *mongotest.Deployment) {
	t.Helper()
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	return client.Database("app").GridFSBucket(options.GridFSBucket().SetChunkSizeBytes(4)), rs
}

func contentOf(length int) []byte {
	b := make([]byte, length)
	for i := range b {
		b[i] = byte(i*7 + i/251)
	}
	return b
}

func TestAFileOfEachLengthComesBack(t *testing.T) {
	b, _ := bucketOf(t)
	for _, length := range []int{0, 1, 3, 4, 5, 8, 9, 1000} {
		content := contentOf(length)
		id, err := b.UploadFromStream(t.Context(), "f", iotest.HalfReader(bytes.NewReader(content)))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		n, err := b.DownloadToStream(t.Context(), id, &got)
		if err != nil || n != int64(length) || !bytes.Equal(got.Bytes(), content) {
			t.Errorf("%d bytes came back as %d, %v", length, n, err)
		}
		d, err := b.OpenDownloadStream(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(d, content); err != nil {
			t.Errorf("%d bytes: %v", length, err)
		}
		if f := d.GetFile(); f.Length != int64(length) || f.ChunkSize != 4 || f.Name != "f" || f.ID != id {
			t.Errorf("the file is %+v", f)
		}
		if n, err := b.GetChunksCollection().CountDocuments(t.Context(), bson.D{{Key: "files_id", Value: id}}); err != nil || n != int64(length+3)/4 {
			t.Errorf("%d bytes have %d chunks, %v", length, n, err)
		}
	}
}

func TestARevisionIsFound(t *testing.T) {
	b, _ := bucketOf(t)
	for i := range 3 {
		_, err := b.GetFilesCollection().InsertOne(t.Context(), bson.D{
			{Key: "_id", Value: i}, {Key: "length", Value: 0}, {Key: "chunkSize", Value: 4}, {Key: "uploadDate", Value: bson.DateTime(i)}, {Key: "filename", Value: "f"},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for revision, want := range map[int32]int32{0: 0, 1: 1, 2: 2, -1: 2, -2: 1, -3: 0} {
		d, err := b.OpenDownloadStreamByName(t.Context(), "f", options.GridFSName().SetRevision(revision))
		if err != nil || d.GetFile().ID != want {
			t.Errorf("revision %d: %+v, %v; want %d", revision, d, err, want)
		}
	}
	for _, revision := range []int32{3, -4} {
		if _, err := b.OpenDownloadStreamByName(t.Context(), "f", options.GridFSName().SetRevision(revision)); !errors.Is(err, mongo.ErrFileNotFound) {
			t.Errorf("revision %d: %v", revision, err)
		}
	}
}

func TestChunksThatAreNotThoseOfTheFile(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, chunks *mongo.Collection) error
		want   error
	}{
		"the first is missing": {func(t *testing.T, c *mongo.Collection) error {
			_, err := c.DeleteOne(t.Context(), bson.D{{Key: "n", Value: 0}})
			return err
		}, mongo.ErrMissingChunk},
		"the last is missing": {func(t *testing.T, c *mongo.Collection) error {
			_, err := c.DeleteOne(t.Context(), bson.D{{Key: "n", Value: 2}})
			return err
		}, mongo.ErrMissingChunk},
		"the first has no number": {func(t *testing.T, c *mongo.Collection) error {
			_, err := c.UpdateOne(t.Context(), bson.D{{Key: "n", Value: 0}}, bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: nil}}}})
			return err
		}, mongo.ErrMissingChunk},
		"one is too short": {func(t *testing.T, c *mongo.Collection) error {
			_, err := c.UpdateOne(t.Context(), bson.D{{Key: "n", Value: 1}}, bson.D{{Key: "$set", Value: bson.D{{Key: "data", Value: []byte{1}}}}})
			return err
		}, mongo.ErrWrongSize},
		"the last is too long": {func(t *testing.T, c *mongo.Collection) error {
			_, err := c.UpdateOne(t.Context(), bson.D{{Key: "n", Value: 2}}, bson.D{{Key: "$set", Value: bson.D{{Key: "data", Value: []byte{1, 2, 3, 4}}}}})
			return err
		}, mongo.ErrWrongSize},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := bucketOf(t)
			id, err := b.UploadFromStream(t.Context(), "f", bytes.NewReader(contentOf(10)))
			if err != nil {
				t.Fatal(err)
			}
			if err := test.change(t, b.GetChunksCollection()); err != nil {
				t.Fatal(err)
			}
			if _, err := b.DownloadToStream(t.Context(), id, io.Discard); !errors.Is(err, test.want) {
				t.Errorf("the download ends with %v, want %v", err, test.want)
			}
		})
	}
}

func TestSkipGoesOnBehindWhatItSkipped(t *testing.T) {
	b, _ := bucketOf(t)
	content := contentOf(10)
	id, err := b.UploadFromStream(t.Context(), "f", bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for skip := range int64(13) {
		d, err := b.OpenDownloadStream(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		n, err := d.Skip(skip)
		rest, restErr := io.ReadAll(d)
		if err != nil || restErr != nil || n != min(skip, 10) || !bytes.Equal(rest, content[n:]) {
			t.Errorf("after %d: %d were skipped, %d left, %v, %v", skip, n, len(rest), err, restErr)
		}
	}
}

func TestAnUploadThatIsAbortedLeavesNothing(t *testing.T) {
	broken := errors.New("the disk is broken")
	b, _ := bucketOf(t)
	_, err := b.UploadFromStream(t.Context(), "f", io.MultiReader(bytes.NewReader(contentOf(5<<20)), iotest.ErrReader(broken)), options.GridFSUpload().SetChunkSizeBytes(1<<20))
	if !errors.Is(err, broken) {
		t.Errorf("the upload ended with %v", err)
	}
	for _, coll := range []*mongo.Collection{b.GetFilesCollection(), b.GetChunksCollection()} {
		if n, err := coll.CountDocuments(t.Context(), bson.D{}); n != 0 || err != nil {
			t.Errorf("%s has %d documents, %v", coll.Name(), n, err)
		}
	}
}

func TestAClosedStreamIsClosed(t *testing.T) {
	b, _ := bucketOf(t)
	for _, end := range []func(*mongo.GridFSUploadStream) error{(*mongo.GridFSUploadStream).Close, (*mongo.GridFSUploadStream).Abort} {
		u, err := b.OpenUploadStreamWithID(t.Context(), "x", "f")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := u.Write(contentOf(9)); err != nil {
			t.Fatal(err)
		}
		if err := end(u); err != nil {
			t.Fatal(err)
		}
		_, writeErr := u.Write([]byte{1})
		for _, err := range []error{writeErr, u.Close(), u.Abort()} {
			if err != mongo.ErrStreamClosed { //nolint:errorlint // programs compare it
				t.Errorf("afterwards: %v", err)
			}
		}
	}
	d, err := b.OpenDownloadStream(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	_, readErr := d.Read(make([]byte, 1))
	_, skipErr := d.Skip(1)
	for _, err := range []error{readErr, skipErr, d.Close()} {
		if err != mongo.ErrStreamClosed { //nolint:errorlint // programs compare it
			t.Errorf("afterwards: %v", err)
		}
	}
}

func TestTheIndexesAreMadeOnce(t *testing.T) {
	b, rs := bucketOf(t)
	for range 3 {
		if _, err := b.UploadFromStream(t.Context(), "f", bytes.NewReader(contentOf(5))); err != nil {
			t.Fatal(err)
		}
	}
	rs.CheckCommands(t, "createIndexes", 2)
	var keys []string
	for _, coll := range []*mongo.Collection{b.GetFilesCollection(), b.GetChunksCollection()} {
		list, err := coll.Indexes().ListSpecifications(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range list {
			keys = append(keys, fmt.Sprint(spec.Name, " ", spec.Unique != nil && *spec.Unique))
		}
	}
	if want := []string{"_id_ false", "filename_1_uploadDate_1 false", "_id_ false", "files_id_1_n_1 true"}; !slices.Equal(keys, want) {
		t.Errorf("the indexes are %q, want %q", keys, want)
	}
}

func TestFilesAreRenamedDeletedAndDropped(t *testing.T) {
	b, _ := bucketOf(t)
	id, err := b.UploadFromStream(t.Context(), "f", bytes.NewReader(contentOf(5)), options.GridFSUpload().SetMetadata(bson.D{{Key: "k", Value: 1}}))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Rename(t.Context(), id, "g"); err != nil {
		t.Fatal(err)
	}
	cursor, err := b.Find(t.Context(), bson.D{{Key: "filename", Value: "g"}, {Key: "metadata.k", Value: 1}})
	var files []mongo.GridFSFile
	if err == nil {
		err = cursor.All(t.Context(), &files)
	}
	if err != nil || len(files) != 1 || files[0].ID != id || files[0].Length != 5 {
		t.Errorf("%+v were found, %v", files, err)
	}
	if err := b.Delete(t.Context(), id); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{"Delete": b.Delete(t.Context(), id), "Rename": b.Rename(t.Context(), id, "h")} {
		if err != mongo.ErrFileNotFound { //nolint:errorlint // programs compare it
			t.Errorf("%s of a file that is not there: %v", name, err)
		}
	}
	if n, err := b.GetChunksCollection().CountDocuments(t.Context(), bson.D{}); n != 0 || err != nil {
		t.Errorf("there are %d chunks, %v", n, err)
	}
	if err := b.Drop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestABadBucketSaysWhy(t *testing.T) {
	b, _ := bucketOf(t)
	for _, size := range []int32{0, -1} {
		_, err := b.OpenUploadStream(t.Context(), "f", options.GridFSUpload().SetChunkSizeBytes(size))
		if want := fmt.Sprintf("mongo: ChunkSizeBytes is %d; it must be at least 1", size); err == nil || err.Error() != want {
			t.Errorf("a chunk size of %d: %v", size, err)
		}
	}
	zero := new(mongo.GridFSBucket)
	for name, err := range map[string]error{
		"Delete": zero.Delete(t.Context(), 1), "Drop": zero.Drop(t.Context()), "Rename": zero.Rename(t.Context(), 1, "f"),
	} {
		if err == nil {
			t.Errorf("%s of a zero value has no error", name)
		}
	}
}
