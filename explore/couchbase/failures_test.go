package explore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	explore "github.com/holdfast-db/holdfast/explore/couchbase"
)

// witness is what a run leaves behind: the journal's entries of the program's writes, and the nodes when the program had ended.
type witness struct {
	of    []couchbasetest.Entry
	nodes []couchbasetest.NodeState
	moves bool // a rebalance was going on
	took  time.Duration
	err   error
}

// one reports whether a node is in a state.
func (w *witness) one(holds func(couchbasetest.NodeState) bool) bool {
	return slices.ContainsFunc(w.nodes, holds)
}

func down(n couchbasetest.NodeState) bool       { return !n.Up }
func paused(n couchbasetest.NodeState) bool     { return n.Paused }
func blackHoled(n couchbasetest.NodeState) bool { return n.BlackHoled }
func isolated(n couchbasetest.NodeState) bool   { return n.Isolated }
func failedOver(n couchbasetest.NodeState) bool { return n.FailedOver }

func (w *witness) first() *couchbasetest.Entry { return &w.of[0] }
func (w *witness) last() *couchbasetest.Entry  { return &w.of[len(w.of)-1] }

// write sends one message.
func write(ctx context.Context, c *couchbase.Collection) error {
	_, err := c.Upsert("k", 1, &couchbase.UpsertOptions{Context: ctx})
	return err
}

// writeTwice sends one message after the other, whatever becomes of the first.
func writeTwice(ctx context.Context, c *couchbase.Collection) error {
	_ = write(ctx, c)
	return write(ctx, c)
}

// writeDurably sends one message.
func writeDurably(ctx context.Context, c *couchbase.Collection) error {
	_, err := c.Upsert("k", 1, &couchbase.UpsertOptions{Context: ctx, DurabilityLevel: couchbase.DurabilityLevelMajority})
	return err
}

// Each failure is seen in the journal and in the nodes.
func TestEachFailureHappens(t *testing.T) {
	type row struct {
		failure explore.Failure
		program func(context.Context, *couchbase.Collection) error
		seen    func(*witness) bool
	}
	rows := []row{
		{explore.RequestLost, write, func(w *witness) bool { return w.first().RequestLost && w.first().ReplyLost && !w.first().Applied }},
		{explore.ReplyLost, write, func(w *witness) bool { return w.first().Applied && w.first().ReplyLost && w.err != nil }},
		{explore.HalfReply, write, func(w *witness) bool { return w.first().Applied && w.first().ReplyLost && w.err != nil }},
		{explore.LateRequest, writeTwice, func(w *witness) bool {
			return len(w.of) == 2 && w.first().Order == 2 && w.last().Order == 1 && w.err == nil
		}},
		{explore.Silence, write, func(w *witness) bool { return w.first().Applied && w.first().ReplyLost && w.took >= 2*time.Second }},
		{explore.KilledBefore, write, func(w *witness) bool { return w.first().RequestLost && w.one(down) }},
		{explore.KilledAfter, write, func(w *witness) bool { return w.first().Applied && w.first().ReplyLost && w.one(down) }},
		{explore.Paused, write, func(w *witness) bool { return w.first().Applied && w.one(paused) && w.err != nil }},
		{explore.BlackHole, write, func(w *witness) bool { return w.first().Applied && w.one(blackHoled) && w.err != nil }},
		{explore.Isolated, writeDurably, func(w *witness) bool { return w.first().Durable && w.one(isolated) && w.err != nil }},
		{explore.FailedOverBefore, write, func(w *witness) bool {
			return !w.first().Applied && w.one(failedOver) && w.last().Applied && w.first().Node != w.last().Node && w.err == nil
		}},
		{explore.FailedOverAfter, write, func(w *witness) bool {
			return w.first().Applied && !w.first().Lost && w.one(failedOver) && w.err == nil
		}},
		{explore.WriteLost, write, func(w *witness) bool { return w.first().Applied && w.first().Lost && w.one(failedOver) && w.err == nil }},
		{explore.MovedBefore, write, func(w *witness) bool {
			return w.moves && len(w.nodes) == 4 && w.first().Status == 0x07 && w.last().Applied && w.first().Node != w.last().Node && w.err == nil
		}},
		{explore.MovedAfter, write, func(w *witness) bool { return w.moves && len(w.nodes) == 4 && len(w.of) == 1 && w.err == nil }},
		{explore.AmbiguousBefore, writeDurably, func(w *witness) bool { return w.first().Status == 0xa3 && !w.first().Applied }},
		{explore.AmbiguousAfter, writeDurably, func(w *witness) bool { return w.first().Status == 0xa3 && w.first().Applied && w.err != nil }},
	}
	for _, status := range []couchbasetest.Status{0x07, 0x09, 0x24, 0x82, 0x85, 0x86, 0x88, 0xa2, 0xa4, 0xa1, 0xff42} {
		rows = append(rows, row{explore.Refused(status), writeDurably, func(w *witness) bool {
			return w.first().Status == status && w.first().RequestLost && !w.first().Applied
		}})
	}
	tested := make(map[string]bool)
	for _, r := range rows {
		tested[r.failure.Name] = true
		t.Run(r.failure.Name, func(t *testing.T) { happens(t, r.failure, r.program, r.seen) })
	}
	for _, f := range explore.All() {
		if !tested[f.Name] {
			t.Errorf("%s is not tested", f.Name)
		}
	}
}

// happens explores one failure, and wants the evidence of it in a run. The cluster is whole at the check.
func happens(t *testing.T, f explore.Failure, program func(context.Context, *couchbase.Collection) error, seen func(*witness) bool) {
	t.Helper()
	var all []string
	found := false
	explore.Run(t, func(e *explore.Exploration) {
		c := connect(e)
		before := time.Now()
		err := program(e.Context(), c)
		state := e.Cluster().State()
		w := witness{nodes: state.Nodes, moves: state.Rebalancing, took: time.Since(before), err: err}
		e.Check(func() error { return whole(e.Cluster(), c) })
		for _, entry := range e.Cluster().Journal() {
			if entry.Key == "k" {
				w.of = append(w.of, entry)
				all = append(all, entry.String())
			}
		}
		all = append(all, fmt.Sprintf("took %v, error %v, nodes %+v", w.took, w.err, w.nodes))
		found = found || len(w.of) > 0 && seen(&w)
	}, explore.InMemory(), explore.Failures(f), explore.Parallel(1))
	if !found {
		t.Errorf("no run shows %s:\n%v", f.Name, all)
	}
}

// whole returns an error if a node is not as it was, or the program cannot write.
func whole(cluster *couchbasetest.Cluster, c *couchbase.Collection) error {
	state := cluster.State()
	members := 0
	for i, n := range state.Nodes {
		if n.Member {
			members++
		}
		if !n.Up || n.Paused || n.BlackHoled || n.Isolated || n.FailedOver {
			return fmt.Errorf("node %d is %+v", i, n)
		}
	}
	if members != 3 || state.Rebalancing {
		return fmt.Errorf("%d nodes are members, and a rebalance is going on: %t", members, state.Rebalancing)
	}
	for _, owner := range cluster.Owners("default", "k") {
		if owner < 0 {
			return fmt.Errorf("a copy is missing: %v", cluster.Owners("default", "k"))
		}
	}
	_, err := c.Upsert("other", 1, nil)
	return err
}
