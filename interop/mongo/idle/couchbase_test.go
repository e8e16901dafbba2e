package idle

import (
	"fmt"
	"testing"
	"time"

	"github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// couchbaseClients connect, write a document and read it, and return how to disconnect.
var couchbaseClients = []struct {
	name    string
	connect func(connectionString string) (disconnect func() error, err error)
}{
	{"couchbase", connectOurs},
	{"gocb", connectGocb},
}

const (
	couchbaseUser = "Administrator"
	couchbasePass = "password"
)

func connectOurs(connectionString string) (func() error, error) {
	client, err := couchbase.Connect(connectionString, couchbase.ClusterOptions{Username: couchbaseUser, Password: couchbasePass})
	if err != nil {
		return nil, err
	}
	bucket := client.Bucket("default")
	if err := bucket.WaitUntilReady(time.Minute, nil); err != nil {
		return nil, err
	}
	c := bucket.DefaultCollection()
	if _, err := c.Upsert("id", "value", nil); err != nil {
		return nil, err
	}
	_, err = c.Get("id", nil)
	return func() error { return client.Close(nil) }, err
}

func connectGocb(connectionString string) (func() error, error) {
	client, err := gocb.Connect(connectionString, gocb.ClusterOptions{Username: couchbaseUser, Password: couchbasePass})
	if err != nil {
		return nil, err
	}
	bucket := client.Bucket("default")
	if err := bucket.WaitUntilReady(time.Minute, nil); err != nil {
		return nil, err
	}
	c := bucket.DefaultCollection()
	if _, err := c.Upsert("id", "value", nil); err != nil {
		return nil, err
	}
	_, err = c.Get("id", nil)
	return func() error { return client.Close(nil) }, err
}

// TestAnIdleCouchbaseClient connects one client with default options to a bucket on two nodes, uses it, and counts its goroutines and its
// heap when nothing happens any more, less what there was before Connect. After Close nothing may be left. The nodes run in a process of
// their own.
func TestAnIdleCouchbaseClient(t *testing.T) {
	connectionString := serve(t, "TestCouchbaseServer", "couchbase://")
	costs := make(map[string]cost)
	fmt.Printf("%-10s %12s %12s\n", "one client", "goroutines", "heap, KiB")
	for _, c := range couchbaseClients {
		before := now()
		disconnect, err := c.connect(connectionString)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		after := now()
		cost := cost{after.goroutines - before.goroutines, after.heapKiB - before.heapKiB}
		costs[c.name] = cost
		fmt.Printf("%-10s %12.0f %12.0f\n", c.name, cost.goroutines, cost.heapKiB)
		if err := disconnect(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		left := now()
		left.goroutines, left.heapKiB = left.goroutines-before.goroutines, left.heapKiB-before.heapKiB
		fmt.Printf("%-10s %12.0f %12.0f after Close\n", c.name, left.goroutines, left.heapKiB)
		if c.name == "couchbase" && (left.goroutines > 0 || left.heapKiB > 64) { // tables that the process makes once
			t.Errorf("%.0f goroutines and %.0f KiB are left after Close", left.goroutines, left.heapKiB)
		}
	}
	ours, official := costs["couchbase"], costs["gocb"]
	fmt.Printf("figure cb-idle-heap-kib %.0f\n", ours.heapKiB)
	fmt.Printf("figure gocb-idle-heap-kib %.0f\n", official.heapKiB)
	fmt.Printf("figure cb-idle-goroutines %.0f\n", ours.goroutines)
	fmt.Printf("figure gocb-idle-goroutines %.0f\n", official.goroutines)
	if ours.heapKiB > 512 {
		t.Errorf("%.0f KiB, at most 512 are allowed", ours.heapKiB)
	}
	if ours.goroutines > 6 {
		t.Errorf("%.0f goroutines, at most 6 are allowed", ours.goroutines)
	}
}

// TestCouchbaseServer is the cluster of TestAnIdleCouchbaseClient, until its input ends.
func TestCouchbaseServer(t *testing.T) {
	runServer(t, func() string {
		return couchbasetest.RunT(t, couchbasetest.Nodes(2), couchbasetest.Credentials(couchbaseUser, couchbasePass)).ConnectionString()
	})
}
