package failover

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	gocb "github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

const (
	outage   = 200 * time.Millisecond // from the failure until the cluster fails the node over
	patience = 20 * time.Second
	document = "a"
)

// scenario is one line of the table. measure returns the time since the newer map exists.
type scenario struct {
	name, figure string
	parameters   string  // of the connection string
	bar          float64 // ms, for our client
	measure      func(*world) time.Duration
}

var scenarios = []scenario{
	{"first success after a dead node's failover, pushed map", "failover-push-ms", "", 5, killed},
	{"first success after a dead node's failover, no push", "failover-poll-ms", "?enable_cluster_config_notifications=false", 60, killed},
	{"64 stuck gets and updates have ended after a black hole's failover", "blackhole-ms", "", 10, blackHole},
}

// world is one run: a cluster of three nodes, and a client of it.
type world struct {
	*testing.T

	server *couchbasetest.Cluster
	docs   *gocb.Collection
	owner  int // of the document
}

func newWorld(t *testing.T, parameters string) *world {
	t.Helper()
	w := &world{T: t, server: couchbasetest.RunT(t, couchbasetest.Nodes(3), couchbasetest.VBuckets(64))}
	client, err := gocb.Connect(w.server.ConnectionString()+parameters, gocb.ClusterOptions{Username: w.server.Username(), Password: w.server.Password()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(nil) })
	if err := client.Bucket("default").WaitUntilReady(patience, nil); err != nil {
		t.Fatal(err)
	}
	w.docs = client.Bucket("default").DefaultCollection()
	w.owner = w.server.Owners("default", document)[0]
	if _, err := w.docs.Upsert(document, 1, nil); err != nil {
		t.Fatal(err)
	}
	return w
}

// failover fails the owner over after the outage, and returns when the newer map existed.
func (w *world) failover() time.Time {
	w.Helper()
	<-time.After(outage)
	made := time.Now()
	if err := w.server.Failover(w.owner); err != nil {
		w.Fatal(err)
	}
	return made
}

// killed has a caller write the document again and again while its owner dies.
func killed(w *world) time.Duration {
	w.server.Kill(w.owner)
	succeeded := make(chan time.Time, 1)
	go func() {
		for began := time.Now(); time.Since(began) < patience; {
			if _, err := w.docs.Upsert(document, 2, nil); err == nil {
				break
			}
		}
		succeeded <- time.Now()
	}()
	made := w.failover()
	return (<-succeeded).Sub(made)
}

// blackHole has 64 operations wait for the answer of the document's owner, which is in a black hole.
func blackHole(w *world) time.Duration {
	w.server.BlackHole(w.owner)
	var callers sync.WaitGroup
	for i := range 64 {
		callers.Go(func() {
			if i%2 == 0 {
				_, _ = w.docs.Get(document, nil) // gocb's time out
			} else {
				_, _ = w.docs.Upsert(document, 2, nil) // the outcome is unknown
			}
		})
	}
	made := w.failover()
	callers.Wait()
	return time.Since(made)
}

// printing is the environment variable with which TestPrint runs: how often each scenario is run.
const printing = "HOLDFAST_PRINT"

// TestPrint prints one line for each run of each scenario. swap_test.go runs it with either import.
func TestPrint(t *testing.T) {
	runs, err := strconv.Atoi(os.Getenv(printing))
	if err != nil {
		t.Skip("TestRecovery runs it")
	}
	for _, s := range scenarios {
		for range runs {
			t.Run(s.figure, func(t *testing.T) {
				took := s.measure(newWorld(t, s.parameters))
				fmt.Printf("sample %s %d\n", s.figure, took.Nanoseconds())
			})
		}
	}
}
