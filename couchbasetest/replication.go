package couchbasetest

import "time"

// replicateLocked gives the replicas of a vbucket what is due, and puts on disk what is.
func (c *Cluster) replicateLocked(b *bucket, vb uint16, now time.Time) {
	from, active := b.active(vb)
	if active == nil {
		return
	}
	if from.works() {
		active.Save(now.Add(-c.saving))
	}
	all := active.High
	for _, i := range b.rows[vb][1:] {
		if i == none {
			continue
		}
		to := c.nodes[i]
		replica := &to.copies[b][vb]
		if from.reaches(to) {
			replica.CatchUp(active, now.Add(-c.lag))
		}
		if to.works() {
			replica.Save(now.Add(-c.saving))
		}
		if replica.UUID == active.UUID {
			all = min(all, replica.High)
		}
	}
	active.Forget(all)
}

// replicateAllLocked lets all replicas and disks have what is due, before a node changes: what has come to them stays there.
func (c *Cluster) replicateAllLocked() {
	now := time.Now()
	for _, b := range c.buckets {
		for vb := range b.rows {
			c.replicateLocked(b, uint16(vb), now)
		}
	}
}

// works reports whether the node's process gets on.
func (n *node) works() bool { return n.up && !n.paused }

// reaches reports whether what a node writes comes to another one.
func (n *node) reaches(to *node) bool { return n.works() && to.works() && !n.isolated && !to.isolated }

// nextStepLocked returns when the next event reaches a replica or a disk, the zero time if none is on its way.
func (c *Cluster) nextStepLocked(b *bucket, vb uint16) (next time.Time) {
	earlier := func(t time.Time, ok bool, after time.Duration) {
		if t = t.Add(after); ok && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	from, active := b.active(vb)
	if active == nil {
		return next
	}
	t, ok := active.NextSave()
	earlier(t, ok && from.works(), c.saving)
	for _, i := range b.rows[vb][1:] {
		if i == none {
			continue
		}
		to, replica := c.nodes[i], &c.nodes[i].copies[b][vb]
		t, ok = replica.NextDue(active)
		earlier(t, ok && from.reaches(to), c.lag)
		t, ok = replica.NextSave()
		earlier(t, ok && to.works(), c.saving)
	}
	return next
}
