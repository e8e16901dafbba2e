package couchbasetest

import (
	"fmt"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
)

// Kill ends the process of a node: its connections are reset, new ones are refused, and what was not on disk is lost. The cluster
// map stays as it is. It panics, like all methods that take a node, if there is no such node.
func (c *Cluster) Kill(node int) {
	c.mu.Lock()
	n := c.nodeLocked("Kill", node)
	c.replicateAllLocked()
	n.up, n.paused = false, false
	close(n.died)
	n.died = make(chan struct{})
	n.gateLocked()
	n.refuse(true)
	conns := make([]*conn, 0, len(n.conns))
	for conn := range n.conns {
		conn.dead = true
		conns = append(conns, conn)
	}
	for b, copies := range n.copies {
		for vb := range copies {
			b.crashLocked(n, uint16(vb), &copies[vb])
		}
	}
	c.wakeLocked()
	c.mu.Unlock()
	for _, conn := range conns {
		conn.abort()
	}
	n.web.abort()
}

// crashLocked drops what a node has of a vbucket and has not saved. An active copy that lost something gets another uuid.
func (b *bucket) crashLocked(at *node, vb uint16, v *store.VBucket) {
	c := b.cluster
	lost := v.Crash(b.Ephemeral)
	if lost && v.State == store.Active && b.rows[vb][0] == at.index {
		kept := v
		if b.Ephemeral {
			kept = nil
		}
		c.journal.keep(b.Name, vb, kept)
		v.Renew(c.random.Uint64() >> 1)
	}
}

// Restart starts the process of a killed node, with what it had on disk. A durable write whose commit is not there is committed again when enough
// copies have it; until then its document is refused to readers.
func (c *Cluster) Restart(node int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeLocked("Restart", node)
	if n.up {
		return
	}
	c.replicateAllLocked()
	n.up = true
	n.refuse(false)
	for b, copies := range n.copies {
		for vb := range copies {
			if copies[vb].State == store.Active {
				copies[vb].CommitAgain() // the crash may have lost a commit
				b.commitAgainLocked(uint16(vb))
			}
		}
	}
	c.wakeLocked()
}

// Pause stops the process of a node, as SIGSTOP does: its connections stay open, and nothing happens on them. After Resume the node
// executes what was sent meanwhile.
func (c *Cluster) Pause(node int) { c.setNode("Pause", node, func(n *condition) { n.paused = true }) }

// Resume continues the process of a paused node.
func (c *Cluster) Resume(node int) {
	c.setNode("Resume", node, func(n *condition) { n.paused = false })
}

// BlackHole cuts a node off from its clients without an error: bytes of either side do not arrive, and dials by the cluster's Dialer
// wait. The other nodes still reach the node. After Heal the bytes arrive that were sent meanwhile.
func (c *Cluster) BlackHole(node int) {
	c.setNode("BlackHole", node, func(n *condition) { n.blackHoled = true })
}

// Isolate cuts a node off from the other nodes: nothing is replicated from it or to it. Clients still reach it.
func (c *Cluster) Isolate(node int) {
	c.setNode("Isolate", node, func(n *condition) { n.isolated = true })
}

// Heal ends BlackHole and Isolate of a node.
func (c *Cluster) Heal(node int) {
	c.setNode("Heal", node, func(n *condition) { n.blackHoled, n.isolated = false, false })
}

func (c *Cluster) setNode(method string, index int, change func(*condition)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeLocked(method, index)
	c.replicateAllLocked()
	change(&n.condition)
	n.gateLocked()
	c.wakeLocked()
}

// gateLocked opens or shuts the gates of a node by its state.
func (n *node) gateLocked() {
	n.gate.Set(n.paused || n.blackHoled)
	n.unreachable.Set(n.blackHoled)
}

// AddNode adds a node to the cluster and returns its number. It has no vbuckets before a rebalance.
func (c *Cluster) AddNode() (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.newNodeLocked()
	if err != nil {
		return 0, fmt.Errorf("couchbasetest: %w", err)
	}
	n.member = true
	c.changeNodesLocked()
	return n.index, nil
}
