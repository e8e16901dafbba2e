package couchbase

import (
	"sync/atomic"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
)

// Cluster is a client of a Couchbase cluster. It is safe for concurrent use. An application needs one, for its whole life.
type Cluster struct {
	settings *settings
	cluster  *cluster.Cluster
	runner   *operation.Runner
	http     *httpServices
	closed   atomic.Bool

	instruments *instruments
}

func newCluster(s *settings, cfg Config) (*Cluster, error) {
	log := retryLog{cfg.Observer}
	cfg.Observer = log
	c := &Cluster{settings: s}
	c.instruments = newInstruments(s, c.clusterLabels)
	s.tracer, s.meter = c.instruments.tracer, c.instruments.meter
	var err error
	runner := operation.Config{Observer: log, Listens: log.listens, Tracer: dispatchTracer{c.instruments.tracer}}
	if c.runner, err = operation.NewRunner(runner); err != nil {
		return nil, err
	}
	if c.cluster, err = cluster.Open(s.cluster); err != nil {
		return nil, err
	}
	if c.http, err = newHTTPServices(s, cfg, c.cluster); err != nil {
		c.cluster.Close()
		return nil, err
	}
	return c, nil
}

// Bucket returns a bucket, and opens it in the background. It is the same one at every call with the name.
func (c *Cluster) Bucket(bucketName string) *Bucket {
	b := &Bucket{cluster: c, name: bucketName}
	if bucketName != "" {
		b.bucket = c.cluster.Bucket(bucketName)
	}
	return b
}

// ClusterCloseOptions are the options of [Cluster.Close]. There is none.
type ClusterCloseOptions struct{}

// Close closes all connections. Operations under way fail, and all later ones with [ErrShutdown]. It waits until nothing of the
// client runs. A second call returns ErrShutdown.
func (c *Cluster) Close(*ClusterCloseOptions) error {
	if c.closed.Swap(true) {
		return ErrShutdown
	}
	c.http.close()
	c.cluster.Close()
	c.instruments.close()
	return nil
}

// usable returns an error after Close.
func (c *Cluster) usable() error {
	if c.closed.Load() {
		return ErrShutdown
	}
	return nil
}
