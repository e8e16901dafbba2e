package couchbasetest

import (
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// defaultDurabilityTimeout is for durable writes that say none.
const defaultDurabilityTimeout = 30 * time.Second

// ahead is a durable write that waits for its replicas.
type ahead struct {
	bucket   *bucket
	vb       uint16
	write    *store.Prepare
	entry    *Entry    // of the journal, nil if there is none any more
	deadline time.Time // zero: none
}

// raiseDurability gives a write at least the durability level that the bucket demands. A touch is never durable by that.
func (x *exec) raiseDurability() {
	b, c := x.conn.bucket, x.command
	switch {
	case b == nil, c == nil, !c.write, x.p.Opcode == memd.OpTouch, x.p.Opcode == memd.OpGetAndTouch, !x.cluster.profile.accepted.Has(memd.FeatureDurability):
		return
	}
	least := memd.DurabilityLevel(b.minimum.Load()) //nolint:gosec // it is one of the levels
	if asked := x.frames.level; least > asked && (asked != 0 || !x.frames.durable) {
		x.frames.durable, x.frames.level = true, least
	}
}

// checkDurability returns the reply that refuses a durable write which cannot succeed, nil if it can.
func (x *exec) checkDurability() *Reply {
	switch level := x.frames.level; {
	case level < memd.DurabilityMajority || level > memd.DurabilityPersistMajority,
		x.bucket.Ephemeral && level != memd.DurabilityMajority:
		return refusal(memd.StatusDurabilityInvalid)
	case !x.cluster.profile.accepted.Has(memd.FeatureDurability):
		return refusal(memd.StatusNotSupported)
	case !x.bucket.durable(x.p.VBucket):
		return refusal(memd.StatusDurabilityImpossible)
	}
	return nil
}

// majority returns how many copies of a vbucket a durable write needs.
func (b *bucket) majority() int { return (b.Replicas+1)/2 + 1 }

// durable reports whether a vbucket has enough copies for durable writes. Buckets with three replicas have no durable writes.
func (b *bucket) durable(vb uint16) bool {
	copies := 0
	for _, at := range b.rows[vb] {
		if at != none {
			copies++
		}
	}
	return copies >= b.majority() && b.Replicas < 3
}

// settledLocked reports whether enough copies have a durable write, of those whose nodes can say so.
func (a *ahead) settledLocked() bool {
	inMemory, onDisk := 0, 0
	activeOnDisk := false
	for i, at := range a.bucket.rows[a.vb] {
		if at == none || !a.bucket.cluster.nodes[at].works() {
			continue
		}
		v := &a.bucket.cluster.nodes[at].copies[a.bucket][a.vb]
		if v.High >= a.write.Seqno {
			inMemory++
		}
		if v.Persisted() >= a.write.Seqno {
			onDisk++
			activeOnDisk = activeOnDisk || i == 0
		}
	}
	switch n := a.bucket.majority(); a.write.Persist {
	case memd.DurabilityMajority:
		return inMemory >= n
	case memd.DurabilityMajorityPersist:
		return inMemory >= n && activeOnDisk
	case memd.DurabilityPersistMajority:
		return onDisk >= n
	}
	return false
}

// outcome is how far a durable write is.
type outcome int

const (
	waiting outcome = iota
	committed
	unknown // nobody will ever tell the client
)

// stepLocked commits the write if it has settled, or gives it up if it cannot any more.
func (a *ahead) stepLocked(now time.Time) outcome {
	c := a.bucket.cluster
	n, active := a.bucket.active(a.vb)
	if a.bucket.dropped || active == nil || active.State != store.Active || !active.Prepared(a.write) || !n.up {
		return unknown
	}
	c.replicateLocked(a.bucket, a.vb, now)
	switch {
	case n.works() && a.settledLocked():
		active.Commit(a.write, now)
		a.noteCommitted()
		c.replicateLocked(a.bucket, a.vb, now)
		return committed
	case !a.deadline.IsZero() && (!now.Before(a.deadline) || !a.bucket.durable(a.vb)):
		active.Abort(a.write, now)
		c.replicateLocked(a.bucket, a.vb, now)
		return unknown
	}
	return waiting
}

// wait waits until the write is committed or its outcome is unknown. It reports false if the cluster ended meanwhile.
func (a *ahead) wait() (outcome, bool) {
	c := a.bucket.cluster
	for {
		c.mu.Lock()
		now := time.Now()
		result, changed := a.stepLocked(now), c.changed
		next := c.nextStepLocked(a.bucket, a.vb)
		c.mu.Unlock()
		if result != waiting {
			return result, true
		}
		if next.IsZero() || !a.deadline.IsZero() && a.deadline.Before(next) {
			next = a.deadline
		}
		if !pause(next, now, changed, c.done) {
			return unknown, false
		}
	}
}

// pause waits until a time, if it is not zero, or until something changed. It reports false if done is closed first.
func pause(until, now time.Time, changed, done <-chan struct{}) bool {
	var fired <-chan time.Time
	if !until.IsZero() {
		t := time.NewTimer(max(until.Sub(now), 0))
		defer t.Stop()
		fired = t.C
	}
	select {
	case <-fired:
	case <-changed:
	case <-done:
		return false
	}
	return true
}

// await waits for the durable write of the request, whose reply is ready.
func (x *exec) await(reply *Reply) *Reply {
	x.aside()
	result, ok := x.ahead.wait()
	if !ok {
		return nil
	}
	if result == unknown {
		return refusal(memd.StatusSyncWriteAmbiguous)
	}
	return reply
}

// noteCommitted records that the write was applied, whether or not the client learns of it.
func (a *ahead) noteCommitted() {
	if j := &a.bucket.cluster.journal; a.entry != nil {
		j.mark(func() { j.applied(a.entry) })
	}
}

// commitAgainLocked commits what a failed node had prepared, as soon as enough copies have it.
func (b *bucket) commitAgainLocked(vb uint16) {
	_, active := b.active(vb)
	if b.cluster.closed {
		return
	}
	for _, p := range active.Prepares() {
		a := &ahead{bucket: b, vb: vb, write: p, entry: b.cluster.journal.prepared(b.Name, vb, p)}
		b.cluster.wg.Go(func() { _, _ = a.wait() })
	}
}
