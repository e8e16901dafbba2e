package prove

import (
	"errors"
	"fmt"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// The clusters of the experiment. With two replicas durable writes are possible while one of three nodes is missing.
const (
	couchbaseNodes    = 3
	couchbaseReplicas = 2
	couchbaseVBuckets = 64
)

// CouchbaseClusters makes Couchbase clusters inside this process, one for each cell.
type CouchbaseClusters struct {
	more []couchbasetest.Option // for tests
}

var _ Deployment = (*CouchbaseClusters)(nil)

// CouchbaseMemory makes clusters without sockets, which can run in a testing/synctest bubble.
func CouchbaseMemory() *CouchbaseClusters { return &CouchbaseClusters{} }

// Backend returns Couchbase.
func (e *CouchbaseClusters) Backend() *Backend { return Couchbase }

func (e *CouchbaseClusters) unavailable(Strategy, Failure) string { return "" }
func (e *CouchbaseClusters) without(Failure) []FaultKind          { return nil }

func (e *CouchbaseClusters) describe() string {
	return fmt.Sprintf("embedded clusters of %d nodes with %d replicas, in memory", couchbaseNodes, couchbaseReplicas)
}

func (e *CouchbaseClusters) open(c *cell) (site, error) {
	s := c.settings
	opts := []couchbasetest.Option{
		couchbasetest.Nodes(couchbaseNodes), couchbasetest.VBuckets(couchbaseVBuckets), couchbasetest.Seed(s.Seed),
		couchbasetest.Buckets(couchbasetest.Bucket{Name: bucketName, Replicas: couchbaseReplicas}),
		couchbasetest.InMemory(), couchbasetest.Latency(s.Latency/10, s.Latency),
		couchbasetest.ReplicationLag(s.ReplicationDelay), couchbasetest.JournalLimit(10 * s.Size.MaxOperations),
	}
	cluster, err := couchbasetest.Run(append(opts, e.more...)...)
	if err != nil {
		return nil, fmt.Errorf("starting a cluster: %w", err)
	}
	control, err := newCouchbaseClient(cluster, s.Timing, false)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to the cluster: %w", err), cluster.Close())
	}
	return &couchbaseSite{
		Cluster: cluster, settings: s, failFast: c.strategy.failFast, control: control,
	}, nil
}
