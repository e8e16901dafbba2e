package couchbasefault

import (
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/site"
)

// Settings are the cluster of each run, and the failures.
type Settings struct {
	Nodes int
	// InMemory is whether the cluster runs in memory, which is for the fake clock of testing/synctest: a timeout or an outage takes as long
	// as it does with a real cluster.
	InMemory bool
	// Server are further options of the cluster.
	Server   []couchbasetest.Option
	Failures site.Failures[Strike, couchbasetest.Middleware]
}

// Check returns an error if the settings cannot be explored.
func (s *Settings) Check() error {
	if s.Nodes < 1 {
		return fmt.Errorf("explore: Nodes: %d is less than 1", s.Nodes)
	}
	return s.Failures.Check(s.Nodes > 1)
}

// Kinds are the failures that this cluster can have, for the plan.
func (s *Settings) Kinds() []explore.Failure { return s.Failures.Kinds(s.Nodes > 1) }

// pace is how long things take.
type pace struct {
	outage  time.Duration // that a node is dead, cut off, or out of the cluster
	settle  time.Duration // that clients have, after the failures, to notice connections that broke and to connect again
	silence time.Duration // until a connection on which nothing comes is closed, as TCP does in the end
}

// pace returns short times for the real clock, and those of real servers for the fake one.
func (s *Settings) pace() pace {
	if s.InMemory {
		return pace{outage: time.Minute, settle: time.Minute, silence: 5 * time.Minute}
	}
	return pace{outage: time.Second, silence: time.Second}
}

// vbuckets is how many vbuckets the buckets have: few, since a cluster begins with each run, and a rebalance moves one after the other.
const vbuckets = 16

func (s *Settings) options() []couchbasetest.Option {
	opts := []couchbasetest.Option{couchbasetest.Nodes(s.Nodes), couchbasetest.VBuckets(vbuckets)}
	if s.InMemory {
		opts = append(opts, couchbasetest.InMemory())
	}
	return append(opts, s.Server...)
}
