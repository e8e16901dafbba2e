package couchbase_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// outages are the ways in which all nodes of a cluster become unreachable.
var outages = []struct {
	name  string
	begin func(*couchbasetest.Cluster, int)
}{
	{"the nodes are dead", (*couchbasetest.Cluster).Kill},
	{"the nodes are black holes", (*couchbasetest.Cluster).BlackHole},
	{"the nodes stand still", (*couchbasetest.Cluster).Pause},
}

const outageNodes = 3

func forAllNodes(server *couchbasetest.Cluster, f func(*couchbasetest.Cluster, int)) {
	for node := range outageNodes {
		f(server, node)
	}
}

// A bubble of synctest fails when goroutines are left at its end.
func TestCloseLeavesNothingInAnOutage(t *testing.T) {
	for _, outage := range outages {
		for _, opened := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, before the client has connected: %v", outage.name, !opened), func(t *testing.T) {
				withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
					c := client.Bucket("default").DefaultCollection()
					if opened {
						must[*couchbase.MutationResult](t)(c.Upsert("id", "value", nil))
					}
					forAllNodes(server, outage.begin)
					var errs [2]error
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						_, errs[0] = c.Get("id", &couchbase.GetOptions{Timeout: time.Hour})
					}()
					queried := make(chan struct{})
					go func() {
						defer close(queried)
						_, errs[1] = client.Query("SELECT 1", &couchbase.QueryOptions{Timeout: time.Hour})
					}()
					<-time.After(20 * time.Second)
					began := time.Now()
					if err := client.Close(nil); err != nil {
						t.Error(err)
					}
					<-ended
					<-queried
					if took := time.Since(began); took != 0 {
						t.Errorf("Close and the end of the operations took %v", took)
					}
					for _, err := range errs {
						if !errors.Is(err, couchbase.ErrShutdown) && !errors.Is(err, couchbase.ErrRequestCanceled) {
							t.Errorf("an operation under way ended with %v", err)
						}
					}
				}, couchbasetest.Nodes(outageNodes))
			})
		}
	}
}
