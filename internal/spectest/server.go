package spectest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/filelock"
)

// serverLimit is the time limit for a server that ended and is being started again.
const serverLimit = time.Minute

// Server returns the URI of the real server in HOLDFAST_MONGODB_URI. Without one the test is skipped; in CI it fails.
//
// Until its end the test is the only one on this machine that uses the server: go test runs packages side by side, and
// some tests measure times or drop databases.
func Server(t T) string {
	t.Helper()
	uri := os.Getenv("HOLDFAST_MONGODB_URI")
	if uri == "" {
		need(t, "HOLDFAST_MONGODB_URI is not set: 1 test that compares with a real server was skipped")
	}
	if err := lockServer(t); err != nil {
		t.Fatalf("the lock of the real server: %v", err)
	}
	ServerProcess(t, uri)
	return uri
}

// lockServer waits until no other test has the lock of the server, and takes it.
func lockServer(t T) error {
	file, err := os.OpenFile(filepath.Join(os.TempDir(), "holdfast-test-server.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	t.Cleanup(func() { _ = file.Close() })
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for err = filelock.Try(file, true); errors.Is(err, filelock.ErrLocked); err = filelock.Try(file, true) {
		<-tick.C
	}
	return err
}

// ServerProcess returns the process id of a real server, by which a test notices that the server was started again. It waits
// for a server that is being started.
func ServerProcess(t T, uri string) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), serverLimit)
	defer cancel()
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetServerSelectionTimeout(serverLimit))
	if err != nil {
		t.Fatalf("HOLDFAST_MONGODB_URI: %v", err)
	}
	defer func() { _ = client.Disconnect(ctx) }()
	var status struct{ PID int64 }
	read := func() error {
		return client.Database("admin").RunCommand(ctx, bson.D{{Key: "serverStatus", Value: 1}}).Decode(&status)
	}
	for err = read(); mongo.IsNetworkError(err) && ctx.Err() == nil; err = read() {
	}
	if err != nil {
		t.Fatalf("HOLDFAST_MONGODB_URI: %v", err)
	}
	return status.PID
}
