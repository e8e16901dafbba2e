package mongo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// bucket returns a bucket with small chunks.
func (w *world) bucket() *mongo.GridFSBucket {
	return w.coll.Database().GridFSBucket(options.GridFSBucket().SetChunkSizeBytes(4))
}

// leaves checks how many documents of files and of chunks a bucket has.
func (w *world) leaves(b *mongo.GridFSBucket, files, chunks int) {
	w.Helper()
	w.set.CheckCount(w, "test."+b.GetFilesCollection().Name(), files)
	w.set.CheckCount(w, "test."+b.GetChunksCollection().Name(), chunks)
}

// holds checks that a file has this content.
func (w *world) holds(b *mongo.GridFSBucket, id any, content []byte) {
	w.Helper()
	var got bytes.Buffer
	if _, err := b.DownloadToStream(w.ctx, id, &got); err != nil || !bytes.Equal(got.Bytes(), content) {
		w.Errorf("the file %v has %d bytes, %v; want %d", id, got.Len(), err, len(content))
	}
}

func TestAFileIDIsNoCondition(t *testing.T) {
	in(t, nil, func(w *world) {
		b := w.bucket()
		for _, id := range []any{int32(1), "text"} {
			w.must(b.UploadFromStreamWithID(w.ctx, id, "f", bytes.NewReader(contentOf(9))))
		}
		for _, id := range []any{doc("$gt", 0), doc("$exists", true), bson.Regex{Pattern: "t"}} {
			_, downloadErr := b.DownloadToStream(w.ctx, id, io.Discard)
			for name, err := range map[string]error{"Delete": b.Delete(w.ctx, id), "Rename": b.Rename(w.ctx, id, "g"), "DownloadToStream": downloadErr} {
				if !errors.Is(err, mongo.ErrFileNotFound) {
					t.Errorf("%s of %v: %v", name, id, err)
				}
			}
		}
		w.leaves(b, 2, 6)
	})
}

func TestAnAbortedUploadLeavesTheFileThatHasItsID(t *testing.T) {
	broken := errors.New("the disk is broken")
	in(t, nil, func(w *world) {
		b, before := w.bucket(), contentOf(9)
		w.must(b.UploadFromStreamWithID(w.ctx, "x", "f", bytes.NewReader(before)))
		err := b.UploadFromStreamWithID(w.ctx, "x", "f", io.MultiReader(bytes.NewReader(contentOf(5)), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Errorf("the upload ended with %v", err)
		}
		w.holds(b, "x", before)
		u, err := b.OpenUploadStreamWithID(w.ctx, "x", "f")
		w.must(err)
		_, err = u.Write(contentOf(100))
		w.must(err)
		if err := u.Close(); !mongo.IsDuplicateKeyError(err) {
			t.Errorf("Close: %v", err)
		}
		w.must(u.Abort())
		w.holds(b, "x", before)
		w.leaves(b, 1, 3)
	})
}

// The _ids of two uploads at the same time lie between one another, and on a coarse clock their files have one uploadDate.
func TestAnAbortedUploadLeavesTheFileThatAnotherOneStoredMeanwhile(t *testing.T) {
	for _, length := range []int{0, 9} {
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			in(t, nil, func(w *world) {
				b, other := w.bucket(), contentOf(length)
				u, err := b.OpenUploadStreamWithID(w.ctx, "x", "f")
				w.must(err)
				_, err = u.Write(other[:length/2])
				w.must(err)
				w.must(b.UploadFromStreamWithID(w.ctx, "x", "f", bytes.NewReader(other)))
				_, err = u.Write(other[length/2:])
				w.must(err)
				if err := u.Close(); !mongo.IsDuplicateKeyError(err) {
					t.Errorf("Close: %v", err)
				}
				w.must(u.Abort())
				w.holds(b, "x", other)
				w.leaves(b, 1, (length+3)/4)
			})
		})
	}
}

func TestAbortDeletesAnyNumberOfChunks(t *testing.T) {
	in(t, nil, func(w *world) {
		b := w.coll.Database().GridFSBucket(options.GridFSBucket().SetChunkSizeBytes(1))
		u, err := b.OpenUploadStream(w.ctx, "f")
		w.must(err)
		_, err = u.Write(contentOf(10_001))
		w.must(err)
		w.script("insert", mongotest.Fault{}, refuse(8000))
		if err := u.Close(); err == nil {
			t.Error("Close hides that the file was refused")
		}
		w.leaves(b, 0, 10_001)
		w.must(u.Abort())
		w.leaves(b, 0, 0)
		if n := len(w.started("delete")); n != 3 {
			t.Errorf("%d commands delete the file and the chunks", n)
		}
	})
}

func TestAbortAfterAFailedCloseLeavesNothing(t *testing.T) {
	for name, faults := range map[string][]mongotest.Fault{
		"the chunks are refused":            {refuse(8000)},
		"the chunks are stored":             {loseReply},
		"the file is refused":               {{}, refuse(8000)},
		"the file is stored, unknown to us": {{}, loseReply},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(o *options.ClientOptions) { o.SetRetryWrites(false) }, func(w *world) {
				b := w.bucket()
				u, err := b.OpenUploadStream(w.ctx, "f")
				w.must(err)
				_, err = u.Write(contentOf(10))
				w.must(err)
				w.script("insert", faults...)
				first := u.Close()
				again := u.Close()
				_, writeErr := u.Write([]byte{1})
				if first == nil || !reflect.DeepEqual(again, first) || !reflect.DeepEqual(writeErr, first) {
					t.Errorf("Close: %v, %v; Write: %v", first, again, writeErr)
				}
				w.must(u.Abort())
				w.leaves(b, 0, 0)
				if err := u.Close(); err != mongo.ErrStreamClosed { //nolint:errorlint // programs compare it
					t.Errorf("Close after Abort: %v", err)
				}
			})
		})
	}
}

func TestAbortCanBeRepeated(t *testing.T) {
	in(t, nil, func(w *world) {
		b := w.bucket()
		u, err := b.OpenUploadStream(w.ctx, "f", options.GridFSUpload().SetChunkSizeBytes(1<<20))
		w.must(err)
		_, err = u.Write(contentOf(4 << 20))
		w.must(err)
		w.leaves(b, 0, 4)
		w.script("delete", refuse(8000))
		if err := u.Abort(); err == nil {
			t.Error("Abort hides that the chunks are still there")
		}
		if _, err := u.Write([]byte{1}); err != mongo.ErrStreamClosed { //nolint:errorlint // programs compare it
			t.Errorf("Write after Abort: %v", err)
		}
		w.must(u.Abort())
		w.leaves(b, 0, 0)
	})
}

// GridFS, "File Deletion": drivers MUST first delete the document of the file, then its chunks.
func TestAFileThatCannotBeDeletedKeepsItsChunks(t *testing.T) {
	in(t, nil, func(w *world) {
		b := w.bucket()
		w.must(b.UploadFromStreamWithID(w.ctx, "x", "f", bytes.NewReader(contentOf(9))))
		w.script("delete", refuse(13))
		if err := b.Delete(w.ctx, "x"); err == nil {
			t.Error("Delete hides that the file is still there")
		}
		w.holds(b, "x", contentOf(9))
		unmet := w.coll.Database().GridFSBucket(options.GridFSBucket().SetWriteConcern(&writeconcern.WriteConcern{W: 4}))
		if err := unmet.Delete(w.ctx, "x"); err == nil {
			t.Error("Delete hides the error of the write concern")
		}
		w.leaves(b, 0, 0)
	})
}

// All commands but getMore are retried.
func TestAFileSurvivesLostReplies(t *testing.T) {
	in(t, nil, func(w *world) {
		b, content := w.bucket(), contentOf(1000)
		for _, command := range []string{"find", "listIndexes", "insert"} {
			w.script(command, loseReply, mongotest.Fault{}, loseReply)
			w.must(b.UploadFromStreamWithID(w.ctx, command, "f", bytes.NewReader(content)))
			w.holds(b, command, content)
		}
		for _, command := range []string{"update", "delete"} {
			w.script(command, loseReply)
			w.must(b.Rename(w.ctx, "find", command))
			w.must(b.Delete(w.ctx, "find"))
			w.must(b.UploadFromStreamWithID(w.ctx, "find", "f", bytes.NewReader(content)))
		}
	})
}

// Client-Side Operations Timeout, "GridFS API": the timeout is that of a whole stream, and of a whole cursor.
func TestTheClientsTimeoutIsThatOfAStream(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.SetTimeout(time.Second) }, func(w *world) {
		b := w.bucket()
		w.must(b.UploadFromStreamWithID(w.ctx, "x", "f", bytes.NewReader(contentOf(1000))))
		up, err := b.OpenUploadStream(w.ctx, "f")
		w.must(err)
		down, err := b.OpenDownloadStream(w.ctx, "x")
		w.must(err)
		w.must(b.UploadFromStreamWithID(w.ctx, "y", "f", bytes.NewReader(nil)))
		cursor, err := b.Find(w.ctx, d{}, options.GridFSFind().SetBatchSize(1))
		w.must(err)
		for _, ev := range w.started("find") {
			if v := ev.Command.Lookup("maxTimeMS"); v.IsZero() {
				t.Errorf("without maxTimeMS: %v", ev.Command)
			}
		}
		w.pass(2 * time.Second)
		_, readErr := io.ReadAll(down)
		cursor.Next(w.ctx)
		cursor.Next(w.ctx)
		for name, err := range map[string]error{"Close of the upload": up.Close(), "Read": readErr, "Next": cursor.Err()} {
			if !mongo.IsTimeout(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		w.must(down.Close())
		w.must(cursor.Close(w.ctx))
		if n := len(w.started("killCursors")); n != 2 {
			t.Errorf("%d cursors were closed", n)
		}
	})
}

func TestWithoutATimeoutTheContextOfFindLimitsFindAlone(t *testing.T) {
	in(t, nil, func(w *world) {
		b := w.bucket()
		for _, id := range []any{"x", "y"} {
			w.must(b.UploadFromStreamWithID(w.ctx, id, "f", bytes.NewReader(nil)))
		}
		ctx, cancel := context.WithTimeout(w.ctx, time.Second)
		defer cancel()
		cursor, err := b.Find(ctx, d{}, options.GridFSFind().SetBatchSize(1))
		w.must(err)
		w.pass(2 * time.Second)
		for range 2 {
			if !cursor.Next(w.ctx) {
				t.Error(cursor.Err())
			}
		}
	})
}

// A Read that was to fill a buffer says why it has not, as the official driver's does.
func TestAReadThatIsStoppedHasItsError(t *testing.T) {
	in(t, nil, func(w *world) {
		bucket := w.client.Database("test").GridFSBucket(options.GridFSBucket().SetChunkSizeBytes(4))
		id, err := bucket.UploadFromStream(w.ctx, "f", bytes.NewReader(contentOf(10)))
		w.must(err)
		_, err = w.client.Database("test").Collection("fs.chunks").DeleteOne(w.ctx, doc("files_id", id, "n", 1))
		w.must(err)
		d, err := bucket.OpenDownloadStream(w.ctx, id)
		w.must(err)
		p := make([]byte, 10)
		if n, err := d.Read(p); n != 4 || !errors.Is(err, mongo.ErrMissingChunk) {
			t.Errorf("%d bytes, error %v", n, err)
		}
		w.must(d.Close())
	})
}

func TestACancelledDownloadClosesItsCursor(t *testing.T) {
	in(t, nil, func(w *world) {
		b := w.bucket()
		w.must(b.UploadFromStreamWithID(w.ctx, "x", "f", bytes.NewReader(contentOf(1000))))
		ctx, cancel := context.WithCancel(w.ctx)
		down, err := b.OpenDownloadStream(ctx, "x")
		w.must(err)
		cancel()
		if _, err := io.ReadAll(down); !errors.Is(err, context.Canceled) {
			t.Errorf("Read: %v", err)
		}
		w.must(down.Close())
		if n := len(w.started("killCursors")); n != 1 {
			t.Errorf("%d cursors were closed", n)
		}
	})
}

type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("of the writer") }
func (panicking) Read([]byte) (int, error)  { panic("of the reader") }

func TestAPanicOfAWriterClosesTheCursor(t *testing.T) {
	in(t, nil, func(w *world) {
		b := w.bucket()
		w.must(b.UploadFromStreamWithID(w.ctx, "x", "f", bytes.NewReader(contentOf(1000))))
		for name, f := range map[string]func(){
			"of the writer": func() { _, _ = b.DownloadToStream(w.ctx, "x", panicking{}) },
			"of the reader": func() { _, _ = b.UploadFromStream(w.ctx, "f", panicking{}) },
		} {
			func() {
				defer func() {
					if p := recover(); p != name {
						t.Errorf("the panic %s is %v", name, p)
					}
				}()
				f()
			}()
		}
		if n := len(w.started("killCursors")); n != 1 {
			t.Errorf("%d cursors were closed", n)
		}
	})
}

// empty is a reader without an end that has nothing.
type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, nil }

func TestAReaderThatNeverHasAnythingIsAnError(t *testing.T) {
	in(t, nil, func(w *world) {
		b := w.bucket()
		source := io.MultiReader(bytes.NewReader(contentOf(9)), empty{})
		if _, err := b.UploadFromStream(w.ctx, "f", source); !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("the upload ended with %v", err)
		}
		w.leaves(b, 0, 0)
	})
}

// The official driver panics too. The file would have bytes that nobody has written.
func TestAReaderThatClaimsMoreThanItWasAskedForPanics(t *testing.T) {
	in(t, nil, func(w *world) {
		b := w.bucket()
		defer func() {
			if recover() == nil {
				t.Error("the upload has taken bytes that the reader cannot have read")
			}
			w.leaves(b, 0, 0)
		}()
		_, _ = b.UploadFromStream(w.ctx, "f", readerFunc(func(p []byte) (int, error) { return len(p) + 1, io.EOF }))
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestAWriterThatTakesLessIsAnError(t *testing.T) {
	in(t, nil, func(w *world) {
		b := w.bucket()
		w.must(b.UploadFromStreamWithID(w.ctx, "x", "f", bytes.NewReader(contentOf(9))))
		short := writerFunc(func(p []byte) (int, error) { return len(p) - 1, nil })
		if n, err := b.DownloadToStream(w.ctx, "x", short); n != 3 || !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%d, %v", n, err)
		}
	})
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// The size of a chunk is no reason to have so much memory.
func TestALargeChunkSize(t *testing.T) {
	in(t, nil, func(w *world) {
		b := w.coll.Database().GridFSBucket(options.GridFSBucket().SetChunkSizeBytes(math.MaxInt32))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w.must(b.UploadFromStreamWithID(w.ctx, "x", "f", bytes.NewReader(contentOf(9))))
		w.holds(b, "x", contentOf(9))
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("a file of 9 bytes took %d", n)
		}
		_, err := b.UploadFromStream(w.ctx, "f", bytes.NewReader(make([]byte, 17<<20)))
		want := "mongo: ChunkSizeBytes is 2147483647, but the server stores no document, and so no chunk, of more than 16777216 bytes"
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		w.leaves(b, 1, 1)
	})
}

func TestTheFileOfADownloadCanBeChanged(t *testing.T) {
	in(t, nil, func(w *world) {
		b := w.bucket()
		w.must(b.UploadFromStreamWithID(w.ctx, "x", "f", bytes.NewReader(contentOf(9))))
		down, err := b.OpenDownloadStream(w.ctx, "x")
		w.must(err)
		*down.GetFile() = mongo.GridFSFile{}
		if got, err := io.ReadAll(down); err != nil || !bytes.Equal(got, contentOf(9)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
}

// As with the official driver.
func TestTheDescriptionOfAFileIsDecodedWithTheOptionsOfTheClient(t *testing.T) {
	in(t, func(o *options.ClientOptions) {
		o.SetBSONOptions(&options.BSONOptions{DefaultDocumentMap: true, UseLocalTimeZone: true})
	}, func(w *world) {
		b := w.bucket()
		w.must(b.UploadFromStreamWithID(w.ctx, doc("k", "v"), "f", bytes.NewReader(nil)))
		down, err := b.OpenDownloadStream(w.ctx, doc("k", "v"))
		w.must(err)
		if f := down.GetFile(); !reflect.DeepEqual(f.ID, map[string]any{"k": "v"}) || f.UploadDate.Location() != time.Local { //nolint:gosmopolitan // the option's name
			t.Errorf("the _id is %#v, the date %v", f.ID, f.UploadDate)
		}
	})
}

// With the official driver FileID is used when chunks are sent, and at the end: a file that gets another one in between is lost.
func TestTheFileIDCanBeChangedBeforeTheFirstByte(t *testing.T) {
	for _, length := range []int{0, 9} {
		in(t, nil, func(w *world) {
			b := w.bucket()
			u, err := b.OpenUploadStream(w.ctx, "f")
			w.must(err)
			u.FileID = make(chan int)
			_, writeErr := u.Write(contentOf(length))
			if closeErr := u.Close(); writeErr == nil || closeErr == nil {
				t.Errorf("Write: %v; Close: %v", writeErr, closeErr)
			}
			u.FileID = "x"
			_, err = u.Write(contentOf(length))
			w.must(err)
			u.FileID = "y"
			w.must(u.Close())
			w.holds(b, map[int]string{0: "y", 9: "x"}[length], contentOf(length))
		})
	}
}

func TestUploadsAtTheSameTimeMakeTheIndexesOnce(t *testing.T) {
	in(t, nil, func(w *world) {
		b := w.bucket()
		var uploads sync.WaitGroup
		for i := range 8 {
			uploads.Go(func() {
				if err := b.UploadFromStreamWithID(w.ctx, i, "f", bytes.NewReader(contentOf(9))); err != nil {
					t.Error(err)
				}
			})
		}
		uploads.Wait()
		w.leaves(b, 8, 24)
		if n := len(w.started("createIndexes")); n != 2 {
			t.Errorf("%d indexes were made", n)
		}
	})
}

// The memory of large replies is used again, whether they are compressed or not: two downloads on one connection must not see each
// other's bytes.
func TestTwoDownloadsOnOneConnection(t *testing.T) {
	for _, compressor := range []string{"", "snappy"} {
		t.Run(fmt.Sprintf("compressor %q", compressor), func(t *testing.T) {
			rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
			o := options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()).SetMaxPoolSize(1)
			if compressor != "" {
				o.SetCompressors([]string{compressor})
			}
			client, err := mongo.Connect(o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { client.Disconnect(context.Background()) })
			b := client.Database("app").GridFSBucket()
			content := contentOf(18 << 20)
			other := bytes.Clone(content)
			for i := range other {
				other[i] ^= 0x55
			}
			var down [2]*mongo.GridFSDownloadStream
			for i, content := range [][]byte{content, other} {
				if err := b.UploadFromStreamWithID(t.Context(), i, "f", bytes.NewReader(content)); err != nil {
					t.Fatal(err)
				}
				if down[i], err = b.OpenDownloadStream(t.Context(), i); err != nil {
					t.Fatal(err)
				}
			}
			piece := make([]byte, 1<<20)
			for at := 0; at < len(content); at += len(piece) {
				for i, content := range [][]byte{content, other} {
					if _, err := io.ReadFull(down[i], piece); err != nil || !bytes.Equal(piece, content[at:at+len(piece)]) {
						t.Fatalf("download %d has other bytes at %d, %v", i, at, err)
					}
				}
			}
		})
	}
}

// A download that ends during a getMore has given its memory to the connection, which still waits for the reply.
func TestADownloadThatEndsGivesItsMemoryAwayOnce(t *testing.T) {
	content, other := contentOf(18<<20), bytes.Repeat([]byte{0x55}, 18<<20)
	in(t, nil, func(w *world) {
		b := w.coll.Database().GridFSBucket()
		for id, content := range map[string][]byte{"x": content, "y": other} {
			w.must(b.UploadFromStreamWithID(w.ctx, id, "f", bytes.NewReader(content)))
		}
		ctx, cancel := context.WithTimeout(w.ctx, time.Second)
		defer cancel()
		down, err := b.OpenDownloadStream(ctx, "x")
		w.must(err)
		w.script("getMore", mongotest.Fault{Delay: 2 * time.Second})
		if _, err := io.Copy(io.Discard, down); !mongo.IsTimeout(err) {
			t.Errorf("the download ended with %v", err)
		}
		w.must(down.Close())
		w.pass(2 * time.Second) // the reply has come
		first, err := b.OpenDownloadStream(w.ctx, "x")
		w.must(err)
		second, err := b.OpenDownloadStream(w.ctx, "y")
		w.must(err)
		for at := 0; at < len(content); at += 1 << 20 {
			for _, d := range []struct {
				stream  *mongo.GridFSDownloadStream
				content []byte
			}{{first, content}, {second, other}} {
				piece := make([]byte, 1<<20)
				if _, err := io.ReadFull(d.stream, piece); err != nil || !bytes.Equal(piece, d.content[at:at+len(piece)]) {
					t.Fatalf("other bytes at %d, %v", at, err)
				}
			}
		}
	})
}
