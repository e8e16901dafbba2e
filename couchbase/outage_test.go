//go:build !race

package couchbase_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// TestAnOutageInMilliseconds measures what an outage of 30 s takes of real time, everything included from the start of the servers to the
// client's end. The figure has the bar: a busy machine makes the time longer.
func TestAnOutageInMilliseconds(t *testing.T) {
	const outage = 30 * time.Second
	times := make([]time.Duration, 20)
	for i := range times {
		began := time.Now()
		withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
			client := connect(t, server, couchbase.ClusterOptions{SecurityConfig: couchbase.SecurityConfig{
				AllowedSaslMechanisms: []couchbase.SaslMechanism{couchbase.ScramSha512SaslMechanism}, // as by default
			}})
			defer client.Close(nil)
			c := client.Bucket("default").DefaultCollection()
			must[*couchbase.MutationResult](t)(c.Upsert("id", "value", nil))
			forAllNodes(server, (*couchbasetest.Cluster).Kill)
			time.AfterFunc(outage, func() { forAllNodes(server, (*couchbasetest.Cluster).Restart) })
			began := time.Now()
			_, err := c.Get("id", &couchbase.GetOptions{Timeout: time.Minute})
			if took := time.Since(began); err != nil || took < outage || took > outage+6*time.Second {
				t.Errorf("%v after %v", err, took)
			}
		}, couchbasetest.Nodes(outageNodes), couchbasetest.Latency(time.Millisecond, time.Millisecond))
		times[i] = time.Since(began)
	}
	slices.Sort(times)
	fmt.Printf("figure cb-outage-30s-ms %.2f\n", float64(times[len(times)/2])/float64(time.Millisecond))
}
