package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/interop/internal/canned"
	"github.com/holdfast-db/holdfast/interop/internal/serverprocess"
	"github.com/holdfast-db/holdfast/mongo"
)

// fileRole in the environment makes this test binary a program that moves one file and prints what that took: its value is
// "ADDRESS CLIENT upload|download BYTES".
const fileRole = "HOLDFAST_BENCH_FILE"

var fileMiB = flag.Int("file", 64, "the size of the large file of TestFiles in MiB")

// bucket is what both clients' buckets have.
type bucket interface {
	UploadFromStreamWithID(ctx context.Context, id int64, r io.Reader) error
	DownloadToStream(ctx context.Context, id any, w io.Writer) (int64, error)
}

type ourBucket struct{ *mongo.GridFSBucket }

func (b ourBucket) UploadFromStreamWithID(ctx context.Context, id int64, r io.Reader) error {
	return b.GridFSBucket.UploadFromStreamWithID(ctx, id, "f", r)
}

type theirBucket struct{ *official.GridFSBucket }

func (b theirBucket) UploadFromStreamWithID(ctx context.Context, id int64, r io.Reader) error {
	return b.GridFSBucket.UploadFromStreamWithID(ctx, id, "f", r)
}

// zeros is a reader without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// sink is a writer and nothing more.
type sink struct{}

func (sink) Write(p []byte) (int, error) { return len(p), nil }

var errWrongLength = errors.New("another number of bytes came")

// moveFile runs the program of fileRole.
func moveFile(role string) error {
	var address, client, way string
	var length int64
	if _, err := fmt.Sscan(role, &address, &client, &way, &length); err != nil {
		return err
	}
	b, err := bucketOf(client, address)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if _, err := b.DownloadToStream(ctx, int64(1), sink{}); err != nil { // connects
		return err
	}
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		return err
	}
	if err := move(ctx, b, way, length); err != nil {
		return err
	}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
		return err
	}
	_, err = fmt.Println(int64(used(after)-used(before)), after.Maxrss)
	return err
}

func bucketOf(client, address string) (bucket, error) {
	if client == oursClient {
		c, err := mongo.Connect(clientOptions(address, 2))
		if err != nil {
			return nil, err
		}
		return ourBucket{c.Database(canned.Database).GridFSBucket()}, nil
	}
	c, err := official.Connect(clientOptions(address, 2))
	if err != nil {
		return nil, err
	}
	return theirBucket{c.Database(canned.Database).GridFSBucket()}, nil
}

func move(ctx context.Context, b bucket, way string, length int64) error {
	if way == "upload" {
		return b.UploadFromStreamWithID(ctx, length, io.LimitReader(zeros{}, length))
	}
	n, err := b.DownloadToStream(ctx, length, sink{})
	if err == nil && n != length {
		return fmt.Errorf("%w: %d of %d", errWrongLength, n, length)
	}
	return err
}

// fileCost is what one file took of a process.
type fileCost struct {
	cpu  time.Duration
	peak float64 // MiB of memory
}

func costOfFile(t *testing.T, server canned.Addresses, client, way string, length int64) fileCost {
	t.Helper()
	role := fmt.Sprintf("%s=%s %s %s %d", fileRole, server.Plain, client, way, length)
	line := strings.Fields(serverprocess.Start(t, way+" of "+client, role).Line(t))
	ns, err := strconv.ParseInt(line[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	kib, err := strconv.ParseInt(line[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return fileCost{time.Duration(ns), float64(kib) / 1024}
}

const (
	smallFile  = 10 << 20
	filesBar   = 0.5
	growthBar  = 8 // MiB
	fileRounds = 3
)

// TestFiles measures what a file costs a program that uploads or downloads it, chunks of 255 KiB, as a fraction of what it costs a
// program with the official driver, and how much more memory a large file takes at its peak than one of 10 MiB.
func TestFiles(t *testing.T) {
	skipIfRace(t)
	server := startServer(t)
	large := int64(*fileMiB) << 20
	growth := []float64{}
	for _, way := range []string{"upload", "download"} {
		ratios := []float64{}
		for range rounds(fileRounds) {
			ours, theirs := costOfFile(t, server, oursClient, way, large), costOfFile(t, server, officialClient, way, large)
			small := costOfFile(t, server, oursClient, way, smallFile)
			ratios, growth = append(ratios, float64(ours.cpu)/float64(theirs.cpu)), append(growth, ours.peak-small.peak)
			fmt.Fprintf(os.Stdout, "%-8s %d MiB: ours %v and %.1f MiB (%.1f MiB for 10 MiB), official %v and %.1f MiB\n",
				way, *fileMiB, ours.cpu, ours.peak, small.peak, theirs.cpu, theirs.peak)
		}
		holdTimeBar(t, "gridfs-"+way+"-vs-official", median(ratios), filesBar)
	}
	fmt.Printf("figure gridfs-memory-growth-mib %.1f\n", slices.Max(growth))
	if worst := slices.Max(growth); worst > growthBar {
		t.Errorf("a file of %d MiB takes %.1f MiB more memory than one of 10 MiB; it may take at most %d", *fileMiB, worst, growthBar)
	}
}
