package couchbasetest

import (
	"fmt"
	"math/rand/v2"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/httpapi"
)

// Tester is what the package needs of a test framework; a *testing.T has it.
type Tester interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Run runs a cluster. Without options it has one node and the bucket "default". Close ends it.
func Run(opts ...Option) (*Cluster, error) {
	config, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		config: config, network: config.network(), buckets: make(map[string]*bucket), changed: make(chan struct{}), done: make(chan struct{}),
		random: rand.New(rand.NewPCG(config.seed, 1)), journal: journal{limit: config.journalLimit},
	}
	c.uuid, c.name = c.newUUID(), "couchbasetest"
	c.http = httpapi.New(management{c})
	if err := c.start(); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// RunT is [Run] for a test: an error ends the test, and the test's end closes the cluster. If the test failed, it logs the text of
// [Cluster.Dump]. Parallel tests do not disturb each other.
func RunT(t Tester, opts ...Option) *Cluster {
	t.Helper()
	c, err := Run(opts...)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() {
		t.Helper()
		if t.Failed() {
			t.Logf("what happened at the cluster:\n%s", c.Dump())
		}
		_ = c.Close()
	})
	return c
}

// start makes the nodes and the buckets, before anybody can connect.
func (c *Cluster) start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range c.config.nodes {
		n, err := c.newNodeLocked()
		if err != nil {
			return fmt.Errorf("couchbasetest: %w", err)
		}
		n.member = true
	}
	c.version = c.nextVersionLocked()
	for _, b := range c.config.buckets {
		c.createLocked(b, c.usual(b))
	}
	return nil
}
