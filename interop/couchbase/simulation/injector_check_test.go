package simulation

import (
	"testing"
	"testing/synctest"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// The connection of the first message ends while its node executes it, so that the fault's moment does not come.
func TestAFaultWhoseMomentDoesNotComeWaitsForAnotherMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := couchbasetest.Run(couchbasetest.InMemory(), couchbasetest.Buckets(couchbasetest.Bucket{Name: bucketName}))
		if err != nil {
			t.Fatal(err)
		}
		i := newInjector(simulated(1), server, newHistory())
		i.waiting = []planned{{kind: "new version of the map", after: true}}
		messages := 0
		defer server.Use(memd.OpGet, func(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
			if messages++; messages == 1 {
				next = func(*couchbasetest.Request) *couchbasetest.Reply { return nil }
			}
			return i.handle(r, next)
		})()
		cluster, err := couchbase.Open(server.ConnectionString(), couchbase.Config{Dial: server.Dialer().DialContext}, couchbase.ClusterOptions{
			Username: server.Username(), Password: server.Password(),
		})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = cluster.Bucket(bucketName).DefaultCollection().Get("document", nil) // it is sent again
		if messages != 2 || len(i.hits) != 1 {
			t.Errorf("%d faults happened to %d messages", len(i.hits), messages)
		}
		if err := cluster.Close(nil); err != nil {
			t.Error(err)
		}
		if err := i.finish(); err != nil {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
}
