package couchbasetest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
)

// Rebalance is a rebalance that has begun. It moves on when Move is called. Its methods may be called from any goroutine.
type Rebalance struct {
	cluster *Cluster
	ejected []int
	moves   []move
	ended   bool
}

// move is one vbucket that gets other nodes.
type move struct {
	bucket *bucket
	vb     uint16
	row    []int
}

var errRebalancing = errors.New("couchbasetest: a rebalance is going on")

// StartRebalance begins a rebalance, which gives all nodes of the cluster but those that are ejected equally many vbuckets of each
// bucket. Until it ends, cluster maps say where each vbucket will be. Nodes that were failed over leave the cluster.
func (c *Cluster) StartRebalance(eject ...int) (*Rebalance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rebalance != nil {
		return nil, errRebalancing
	}
	var members []int
	for _, n := range c.nodes {
		stays := n.member && !slices.Contains(eject, n.index)
		if n.member && !n.works() {
			return nil, fmt.Errorf("couchbasetest: node %d does not run; a rebalance needs all nodes", n.index)
		}
		if stays {
			members = append(members, n.index)
		}
	}
	if len(members) == 0 {
		return nil, errors.New("couchbasetest: a rebalance must leave a node")
	}
	r := &Rebalance{cluster: c, ejected: eject}
	for _, b := range c.buckets {
		r.planLocked(b, members)
	}
	c.rebalance = r
	c.changeNodesLocked()
	return r, nil
}

// planLocked finds what is to move in a bucket.
func (r *Rebalance) planLocked(b *bucket, members []int) {
	for _, i := range members {
		if !slices.Contains(b.members, i) {
			b.join(b.cluster.nodes[i])
		}
	}
	b.forward = balanced(len(b.rows), b.Replicas, members)
	for vb, row := range b.forward {
		if !slices.Equal(row, b.rows[vb]) {
			r.moves = append(r.moves, move{b, uint16(vb), row})
		}
	}
}

// Left returns how many vbuckets are still to move.
func (r *Rebalance) Left() int {
	r.cluster.mu.Lock()
	defer r.cluster.mu.Unlock()
	return len(r.moves)
}

// Move moves the next vbucket, and publishes a map that says so. It reports false if there was none.
func (r *Rebalance) Move() bool {
	r.cluster.mu.Lock()
	defer r.cluster.mu.Unlock()
	if len(r.moves) == 0 || r.ended {
		return false
	}
	m := r.moves[0]
	if n, _ := m.bucket.active(m.vb); n != nil && !n.up {
		r.endLocked() // as the real one, it fails with the node
		return false
	}
	r.moves = r.moves[1:]
	if !m.bucket.dropped {
		m.bucket.moveLocked(m.vb, m.row)
		m.bucket.changeLocked()
	}
	return true
}

// moveLocked gives a vbucket other nodes.
func (b *bucket) moveLocked(vb uint16, row []int) {
	c, before := b.cluster, b.rows[vb]
	to := &c.nodes[row[0]].copies[b][vb]
	if _, from := b.active(vb); from == nil {
		to.Flush()
		to.State, to.UUID = store.Active, c.random.Uint64()>>1
	} else if from != to {
		to.TakeOver(from)
	}
	for _, i := range row[1:] {
		if i != none {
			v := &c.nodes[i].copies[b][vb]
			if !slices.Contains(before[1:], i) {
				v.Copy(to)
			}
			v.State = store.Replica
		}
	}
	for _, i := range before {
		if i != none && !slices.Contains(row, i) {
			v := &c.nodes[i].copies[b][vb]
			v.Flush()
			v.State = store.Dead
		}
	}
	b.rows[vb] = row
}

// Finish moves all vbuckets that are left, and ends the rebalance: ejected nodes leave the cluster.
func (r *Rebalance) Finish() {
	for r.Move() {
	}
	c := r.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.ended {
		return
	}
	for _, n := range c.nodes {
		if n.failedOver || slices.Contains(r.ejected, n.index) {
			n.leaveLocked()
		}
	}
	r.endLocked()
}

// leaveLocked takes a node, which has no vbuckets any more, out of the cluster.
func (n *node) leaveLocked() {
	n.member, n.failedOver = false, false
	for b := range n.copies {
		b.members = slices.DeleteFunc(b.members, func(i int) bool { return i == n.index })
	}
	n.copies = make(map[*bucket][]store.VBucket)
}

// Stop ends the rebalance where it is. The vbuckets stay where they are.
func (r *Rebalance) Stop() {
	r.cluster.mu.Lock()
	defer r.cluster.mu.Unlock()
	if !r.ended {
		r.endLocked()
	}
}

func (r *Rebalance) endLocked() {
	r.ended = true
	r.cluster.rebalance = nil
	for _, b := range r.cluster.buckets {
		b.forward = nil
	}
	r.cluster.changeNodesLocked()
}

// Rebalance makes a whole rebalance at once, see [Cluster.StartRebalance].
func (c *Cluster) Rebalance(eject ...int) error {
	r, err := c.StartRebalance(eject...)
	if err != nil {
		return err
	}
	r.Finish()
	return nil
}
