package spectest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/filelock"
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
	if _, err := serverProcess(uri); err != nil {
		t.Fatalf("HOLDFAST_MONGODB_URI: %v", err)
	}
	return uri
}

// serverLock is this process's lock of the real server. It is held as long as a test of the process uses the server.
var serverLock struct {
	sync.Mutex
	users int
	file  *os.File
}

// lockServer waits until no test of another process has the lock of the server, and takes it.
func lockServer(t T) error {
	serverLock.Lock()
	defer serverLock.Unlock()
	if serverLock.users == 0 {
		file, err := lockFile(filepath.Join(os.TempDir(), "holdfast-test-server.lock"))
		if err != nil {
			return err
		}
		serverLock.file = file
	}
	serverLock.users++
	t.Cleanup(func() {
		serverLock.Lock()
		defer serverLock.Unlock()
		if serverLock.users--; serverLock.users == 0 {
			_ = serverLock.file.Close()
		}
	})
	return nil
}

func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for err = filelock.Try(file, true); errors.Is(err, filelock.ErrLocked); err = filelock.Try(file, true) {
		<-tick.C
	}
	return file, err
}

// serverProcess returns the process id of a real server, which shows whether the server was started again. It waits for a server
// that is being started.
func serverProcess(uri string) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), serverLimit)
	defer cancel()
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetServerSelectionTimeout(serverLimit))
	if err != nil {
		return 0, err
	}
	defer func() { _ = client.Disconnect(ctx) }()
	var status struct{ PID int64 }
	read := func() error {
		return client.Database("admin").RunCommand(ctx, bson.D{{Key: "serverStatus", Value: 1}}).Decode(&status)
	}
	for err = read(); mongo.IsNetworkError(err) && ctx.Err() == nil; err = read() {
	}
	return status.PID, err
}
