package idle

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/interop/internal/serverprocess"
	"github.com/holdfast-db/holdfast/mongotest"
)

// cost is what idle clients have.
type cost struct {
	goroutines float64
	heapKiB    float64
}

// clients is how many are connected at the same time, so that the heap of one is measured exactly.
const clients = 50

// TestAnIdleClient connects clients to a set of three members, with default options, uses each of them once, and counts their
// goroutines and their heap when nothing happens any more. The set runs in a process of its own.
func TestAnIdleClient(t *testing.T) {
	uri := serve(t, "TestServer", "mongodb://")
	costs := make(map[string]cost)
	fmt.Printf("%-10s %12s %12s\n", "one client", "goroutines", "heap, KiB")
	for _, name := range driver.Names() {
		costs[name] = measure(t, name, uri)
		fmt.Printf("%-10s %12.1f %12.0f\n", name, costs[name].goroutines, costs[name].heapKiB)
	}
	ours, official := costs[driver.NameOurs], costs[driver.NameOfficial]
	fmt.Printf("figure idle-goroutines %.1f\n", ours.goroutines)
	fmt.Printf("figure official-idle-goroutines %.1f\n", official.goroutines)
	fmt.Printf("figure idle-heap-kib %.0f\n", ours.heapKiB)
	fmt.Printf("figure official-idle-heap-kib %.0f\n", official.heapKiB)
	if ours.goroutines > official.goroutines/2 {
		t.Errorf("%.1f goroutines, at most half of %.1f are allowed", ours.goroutines, official.goroutines)
	}
	if ours.heapKiB > official.heapKiB/2 {
		t.Errorf("%.0f KiB, at most half of %.0f are allowed", ours.heapKiB, official.heapKiB)
	}
}

func measure(t *testing.T, name, uri string) cost {
	t.Helper()
	connect(t, name, uri, 1)() // what the first client makes for all
	before := now()
	disconnect := connect(t, name, uri, clients)
	after := now()
	disconnect()
	return cost{(after.goroutines - before.goroutines) / clients, (after.heapKiB - before.heapKiB) / clients}
}

func now() cost {
	pause(2 * time.Second) // monitors and their second connections are up
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return cost{float64(runtime.NumGoroutine()), float64(m.HeapAlloc) / 1024}
}

func pause(d time.Duration) { <-time.After(d) }

func connect(t *testing.T, name, uri string, n int) (disconnect func()) {
	t.Helper()
	var all []driver.Client
	for range n {
		client, err := driver.Connect(name, options.Client().ApplyURI(uri))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, client)
		if _, err := client.Collection("idle", "c").InsertOne(t.Context(), bson.D{}); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		for _, client := range all {
			_ = client.Disconnect(context.Background())
		}
	}
}

const serverVariable = "HOLDFAST_IDLE_SERVER"

// serve runs a test in a second process, as the server, and returns its URI.
func serve(t *testing.T, test, scheme string) string {
	t.Helper()
	uri := serverprocess.Start(t, test, serverVariable+"=1", "-test.run=^"+test+"$").Line(t)
	if !strings.HasPrefix(uri, scheme) {
		t.Fatalf("the server printed %q", uri)
	}
	return uri
}

// TestServer is the set of TestAnIdleClient, until its input ends.
func TestServer(t *testing.T) {
	runServer(t, func() string { return mongotest.RunReplicaSetT(t, 3).URI() })
}

// runServer runs a server if this process was started for it.
func runServer(t *testing.T, run func() (uri string)) {
	t.Helper()
	if os.Getenv(serverVariable) == "" {
		t.Skip("it is run by the test of the client")
	}
	fmt.Println(run())
	var end string
	_, _ = fmt.Scanln(&end)
}
