package couchbase_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// All vbuckets move while 16 workers add one to their counters: no operation fails, and no addition is lost or doubled.
func TestMovesCauseNoError(t *testing.T) {
	for name, opts := range map[string][]couchbasetest.Option{
		"maps are pushed": nil, "refusals have no map": {couchbasetest.BareRefusals()}, "an old server": {couchbasetest.Version("6.6")},
	} {
		t.Run(name, func(t *testing.T) {
			withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
				docs := client.Bucket("default").DefaultCollection()
				var ended atomic.Bool
				var workers sync.WaitGroup
				for i := range 16 {
					workers.Go(func() { count(t, docs, fmt.Sprint("n", i), &ended) })
				}
				move(t, server)
				move(t, server)
				ended.Store(true)
				workers.Wait()
			}, append(opts, couchbasetest.Nodes(2), couchbasetest.VBuckets(64), couchbasetest.Latency(100*time.Microsecond, time.Millisecond))...)
		})
	}
}

// move brings a node in and takes the one out that has been in the cluster longest.
func move(t *testing.T, server *couchbasetest.Cluster) {
	t.Helper()
	added, err := server.AddNode()
	if err != nil {
		t.Fatal(err)
	}
	r, err := server.StartRebalance(added-2, added-1)
	if err != nil {
		t.Fatal(err)
	}
	for r.Move() {
		<-time.After(2 * time.Millisecond)
	}
	r.Finish()
	if _, err := server.AddNode(); err != nil {
		t.Fatal(err)
	}
}

// count adds one to a counter until it is told to end.
func count(t *testing.T, docs *couchbase.Collection, key string, ended *atomic.Bool) {
	for want := uint64(1); !ended.Load(); want++ {
		r, err := docs.Binary().Increment(key, &couchbase.IncrementOptions{Initial: 1, Delta: 1})
		if err != nil {
			t.Errorf("addition %d to %s: %v", want, key, err)
			return
		}
		if r.Content() != want {
			t.Errorf("%s is %d after %d additions", key, r.Content(), want)
			return
		}
		<-time.After(time.Millisecond)
	}
}

// Close ends at once whatever state the nodes are in. Operations that are under way fail, and nothing runs any more: the bubble would
// not end otherwise.
func TestCloseInAnOutage(t *testing.T) {
	for name, outage := range map[string]func(*couchbasetest.Cluster){
		"killed":     func(c *couchbasetest.Cluster) { c.Kill(0) },
		"paused":     func(c *couchbasetest.Cluster) { c.Pause(0) },
		"black hole": func(c *couchbasetest.Cluster) { c.BlackHole(0) },
		"refusing": func(c *couchbasetest.Cluster) {
			c.Use(couchbasetest.AnyOpcode, couchbasetest.Always(couchbasetest.Fault{Status: 0x07}))
		},
	} {
		for _, moment := range []struct {
			name         string
			before, wait time.Duration // the time before the outage, and from there to Close
		}{
			{"before the handshake", 0, 20 * time.Millisecond},
			{"in the handshake", 2500 * time.Microsecond, 100 * time.Millisecond},
			{"when connected", time.Second, 50 * time.Millisecond},
			{"long ago", time.Second, time.Minute},
		} {
			t.Run(name+" "+moment.name, func(t *testing.T) {
				withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
					closeIn(t, server, outage, moment.before, moment.wait)
				}, couchbasetest.Latency(time.Millisecond, time.Millisecond))
			})
		}
	}
}

func closeIn(t *testing.T, server *couchbasetest.Cluster, outage func(*couchbasetest.Cluster), before, wait time.Duration) {
	t.Helper()
	client := connect(t, server, couchbase.ClusterOptions{})
	docs := client.Bucket("default").DefaultCollection()
	<-time.After(before)
	outage(server)
	var callers sync.WaitGroup
	for i := range 20 {
		callers.Go(func() {
			<-time.After(wait - 10*time.Millisecond)
			_, err := docs.Upsert(fmt.Sprint("d", i), i, nil)
			if !errors.Is(err, couchbase.ErrShutdown) && !errors.Is(err, couchbase.ErrRequestCanceled) {
				t.Errorf("an operation ended with %v", err)
			}
		})
	}
	<-time.After(wait)
	synctest.Wait()
	began := time.Now()
	if err := client.Close(nil); err != nil {
		t.Error(err)
	}
	callers.Wait()
	if took := time.Since(began); took > 10*time.Millisecond {
		t.Errorf("Close took %v", took)
	}
}
