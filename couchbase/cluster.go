package couchbase

import (
	"sync/atomic"

	"github.com/holdfast-db/holdfast/internal/base/retold"
	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
	"github.com/holdfast-db/holdfast/internal/couchbase/pools"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/telemetry"
)

// Cluster is a client of a Couchbase cluster. It is safe for concurrent use. An application needs one, for its whole life.
type Cluster struct {
	settings *settings
	cluster  *cluster.Cluster
	runner   *operation.Runner
	http     *httpServices
	closed   atomic.Bool

	instruments *instruments
	tracer      *telemetry.Tracer // nil: there is none
	pools       *pools.Pools
	told        telemetry.Client // what the tracer can ask
}

func newCluster(s *settings, cfg Config) (*Cluster, error) {
	log := retryLog{cfg.Observer}
	cfg.Observer = observed(log, cfg.Tracer)
	c := &Cluster{settings: s, tracer: cfg.Tracer, pools: pools.New(cfg.Tracer)}
	s.cluster.Pools = c.pools
	c.instruments = newInstruments(s, c.clusterLabels)
	s.tracer, s.meter = c.instruments.tracer, c.instruments.meter
	var err error
	runner := operation.Config{Observer: cfg.Observer, Tracer: dispatchTracer{c.instruments.tracer}}
	if cfg.Observer == log {
		runner.Listens = log.listens
	}
	if tellsAttempts(cfg.Tracer) {
		runner.Tracer = kvAttempts{runner.Tracer}
	}
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
	c.tellOpened()
	return c, nil
}

// observed returns the observer that tells also a tracer of the decisions, if it wants to know.
func observed(log retryLog, t *telemetry.Tracer) retry.Observer {
	if t == nil || t.Decided == nil {
		return log
	}
	return retold.Both(log, decisions{})
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
	c.end()
	c.tellClosed()
	return nil
}

// end ends everything that runs.
func (c *Cluster) end() {
	c.http.close()
	c.cluster.Close()
	c.instruments.close()
}

// usable returns an error after Close.
func (c *Cluster) usable() error {
	if c.closed.Load() {
		return ErrShutdown
	}
	return nil
}
