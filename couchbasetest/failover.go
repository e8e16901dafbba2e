package couchbasetest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
)

// Failover takes a node out of the cluster at once, as a hard failover does: replicas become active copies with uuids of their own, and
// what they did not have is lost. A vbucket without a replica has no owner from now on. The node must be in the cluster and not its
// last one. A rebalance that goes on ends where it is.
func (c *Cluster) Failover(node int) error { return c.failover(node, false) }

// GracefulFailover takes a node out of the cluster after its vbuckets have moved to their replicas, one by one. Nothing is lost.
func (c *Cluster) GracefulFailover(node int) error { return c.failover(node, true) }

func (c *Cluster) failover(node int, graceful bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeLocked("Failover", node)
	members := 0
	for _, other := range c.nodes {
		if other.member {
			members++
		}
	}
	switch {
	case !n.member:
		return fmt.Errorf("couchbasetest: node %d is not in the cluster", node)
	case members == 1:
		return fmt.Errorf("couchbasetest: node %d is the last of the cluster", node)
	}
	if graceful {
		if err := c.handOverLocked(n); err != nil {
			return err
		}
	}
	if c.rebalance != nil {
		c.rebalance.endLocked()
	}
	n.member, n.failedOver = false, true
	now := time.Now()
	for b := range n.copies {
		for vb := range b.rows {
			b.failoverLocked(uint16(vb), n, now)
		}
		b.members = slices.DeleteFunc(b.members, func(i int) bool { return i == node })
	}
	c.changeNodesLocked()
	return nil
}

// failoverLocked takes a node out of the row of a vbucket.
func (b *bucket) failoverLocked(vb uint16, n *node, now time.Time) {
	c, row := b.cluster, b.rows[vb]
	at := slices.Index(row, n.index)
	if at < 0 {
		return
	}
	c.replicateLocked(b, vb, now)
	others := slices.DeleteFunc(slices.Clone(row), func(i int) bool { return i == n.index || i == none })
	if at == 0 {
		b.promoteLocked(vb, others)
	}
	for len(others) < len(row) {
		others = append(others, none)
	}
	if at == 0 && others[0] != none && !c.nodes[others[0]].works() {
		others = append([]int{none}, others[:len(others)-1]...)
	}
	b.rows[vb] = others
	v := &n.copies[b][vb]
	v.Flush()
	v.State = store.Dead
	if at == 0 && others[0] != none {
		b.commitAgainLocked(vb)
	}
}

// promoteLocked makes the best replica, which it puts first, the active copy: of those whose nodes get on, the one that has most.
func (b *bucket) promoteLocked(vb uint16, replicas []int) {
	c := b.cluster
	slices.SortStableFunc(replicas, func(i, j int) int {
		return cmp.Compare(c.nodes[j].rank(b, vb), c.nodes[i].rank(b, vb))
	})
	var survivor *store.VBucket
	if len(replicas) > 0 && c.nodes[replicas[0]].works() {
		survivor = &c.nodes[replicas[0]].copies[b][vb]
	}
	c.journal.keep(b.Name, vb, survivor)
	if survivor != nil {
		survivor.Promote(c.random.Uint64() >> 1)
	}
}

// rank orders the replicas of a vbucket.
func (n *node) rank(b *bucket, vb uint16) float64 {
	if !n.works() {
		return -1
	}
	return float64(n.copies[b][vb].High)
}

// handOverLocked moves the active copies of a node to their replicas.
func (c *Cluster) handOverLocked(n *node) error {
	for b := range n.copies {
		for vb, row := range b.rows {
			if row[0] == n.index && (len(row) == 1 || row[1] == none || !n.reaches(c.nodes[row[1]])) {
				return fmt.Errorf("couchbasetest: vbucket %d of the bucket %q has no replica that could take over", vb, b.Name)
			}
		}
	}
	for b := range n.copies {
		for vb, row := range b.rows {
			if row[0] != n.index {
				continue
			}
			from, to := &n.copies[b][vb], &c.nodes[row[1]].copies[b][vb]
			to.TakeOver(from)
			from.State = store.Replica
			from.Copy(to)
			next := slices.Clone(row)
			next[0], next[1] = row[1], row[0]
			b.rows[vb] = next
			b.changeLocked()
		}
	}
	return nil
}

// AddBack brings a node that was failed over back into the cluster. It has no vbuckets before a rebalance.
func (c *Cluster) AddBack(node int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeLocked("AddBack", node)
	if !n.failedOver {
		return fmt.Errorf("couchbasetest: node %d was not failed over", node)
	}
	n.member, n.failedOver = true, false
	n.copies = make(map[*bucket][]store.VBucket)
	c.changeNodesLocked()
	return nil
}
