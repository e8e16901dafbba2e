// Package couchbasefault is what an exploration of a Couchbase program needs: the failures, and the cluster of one run, which does the
// failures of its case.
//
// Begin with site.go. Then settings.go, failure.go, list.go, nodes.go, injector.go, story.go.
package couchbasefault

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/site"
)

// Site is the cluster of one run, which does the failures of its case. Its life: Start, then the program's work; Heal, then the check;
// Close, then Fill. Its methods are safe for concurrent use.
type Site struct {
	*site.Base
	cluster    *couchbasetest.Cluster
	pace       pace
	failures   map[string]*Failure
	unbalanced atomic.Bool // a failure took a node out of the cluster
}

// Start starts the cluster of a run.
func Start(s Settings, c explore.Case) (*Site, error) {
	failures, err := s.Failures.ByName(c)
	if err != nil {
		return nil, err
	}
	site := &Site{Base: site.New(c), pace: s.pace(), failures: failures}
	cluster, err := couchbasetest.Run(s.options()...)
	if err != nil {
		return nil, err
	}
	site.cluster = cluster
	cluster.Use(couchbasetest.AnyOpcode, site.intercept)
	return site, nil
}

// Cluster returns the cluster.
func (s *Site) Cluster() *couchbasetest.Cluster { return s.cluster }

// Heal ends the failures: late requests arrive, all nodes run, reach each other, and are in the cluster, and a rebalance that began has
// ended. It returns when no request is being executed, and clients may be connected again. Messages that come afterwards are not recorded.
func (s *Site) Heal(ctx context.Context) error {
	s.EndFailures(s.repair)
	if err := s.cluster.WaitIdle(ctx); err != nil {
		return fmt.Errorf("explore: requests are being executed after all failures had ended: %w", err)
	}
	return s.Settle(ctx, s.pace.settle)
}

// repair makes the nodes a cluster again.
func (s *Site) repair() {
	for i, n := range s.cluster.State().Nodes {
		s.cluster.Restart(i)
		s.cluster.Resume(i)
		s.cluster.Heal(i)
		if n.FailedOver {
			s.addBack(i)
		}
	}
	if s.unbalanced.Load() {
		s.rebalance()
	}
}

func (s *Site) addBack(node int) {
	if err := s.cluster.AddBack(node); err != nil {
		s.Note("cluster", "%v", err)
	}
}

func (s *Site) rebalance() {
	if err := s.cluster.Rebalance(); err != nil {
		s.Note("cluster", "%v", err)
	}
}

// Close ends the failures and the cluster.
func (s *Site) Close() error {
	s.EndFailures(s.repair)
	return s.cluster.Close()
}

// Fill tells an outcome what happened. The cluster may be closed.
func (s *Site) Fill(o *explore.Outcome) { s.Tell(o, s.fates()) }
