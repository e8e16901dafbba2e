package couchbase_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// A firewall that forgets a connection drops its packets without a word. The node is well, and new connections to it work.
func TestAConnectionThatStoppedRespondingIsReplaced(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		every time.Duration // between two operations
		limit time.Duration
	}{
		{"one node, many operations", 1, 100 * time.Millisecond, 20 * time.Second},
		{"one node, few operations", 1, 5 * time.Second, 20 * time.Second},
		{"three nodes, few operations", 3, 5 * time.Second, 120 * time.Second}, // polls go to a random node
	} {
		t.Run(c.name, func(t *testing.T) {
			withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
				docs := client.Bucket("default").DefaultCollection()
				_ = must[*couchbase.MutationResult](t)(docs.Upsert("a", 1, nil))
				server.Use(0x00, couchbasetest.FaultOnce(couchbasetest.Fault{LoseReply: true, Silent: true}))
				began := time.Now()
				for {
					if _, err := docs.Get("a", &couchbase.GetOptions{Timeout: 500 * time.Millisecond}); err == nil {
						break
					}
					if time.Since(began) > c.limit {
						t.Fatalf("no operation has succeeded in %v", c.limit)
					}
					<-time.After(c.every)
				}
				t.Logf("after %v", time.Since(began))
			}, couchbasetest.Nodes(c.nodes))
		})
	}
}

func TestAConnectionIsKeptIfItsNodeAnswersLate(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		docs := client.Bucket("default").DefaultCollection()
		_ = must[*couchbase.MutationResult](t)(docs.Upsert("a", 1, nil))
		synctest.Wait()
		before := server.Counters().Opened
		server.Pause(0)
		<-time.After(8 * time.Second)
		server.Resume(0)
		<-time.After(30 * time.Second)
		_ = must[*couchbase.GetResult](t)(docs.Get("a", nil))
		if n := server.Counters().Opened; n != before {
			t.Errorf("%d connections were opened, want %d", n, before)
		}
	})
}
