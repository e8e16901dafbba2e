package cluster

import "time"

// Wait names what an operation waits for.
type Wait struct {
	// AnyMap: a newer map, whatever is in it, or news about a bucket that is not open. The other fields are not used then.
	AnyMap bool
	// VBucket and Replica: a newer map in which another endpoint has them.
	VBucket uint16
	Replica int
	// Endpoint, if set: also that the endpoint can be used.
	Endpoint *Endpoint
}

// helpedBy reports whether the change of the map from old, which may be nil, to s ends the wait.
func (w Wait) helpedBy(old, s *Snapshot) bool {
	return w.AnyMap || old == nil || old.Owner(w.VBucket, w.Replica) != s.Owner(w.VBucket, w.Replica) ||
		old.Forward(w.VBucket) != s.Forward(w.VBucket)
}

// Wake returns a channel that is closed when something happens that the wait is for, or has happened since the snapshot since. While an
// operation waits for an endpoint that is down, the nodes are asked for a newer map.
func (b *Bucket) Wake(since *Snapshot, w Wait) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.wake(since, w)
	if e := w.Endpoint; e != nil && e.err != nil && e.err != ErrConnecting { //nolint:errorlint // it is that very value
		b.fetchLocked(nil)
	}
	return c
}

// wake is Wake with b.mu held.
func (b *Bucket) wake(since *Snapshot, w Wait) <-chan struct{} {
	s := b.snapshot.Load()
	if b.closed || s != since && w.helpedBy(since, s) {
		return closedChannel
	}
	if w.Endpoint != nil && w.Endpoint.usable() {
		return closedChannel
	}
	if !w.AnyMap {
		b.wanted = time.Now()
	}
	c, ok := b.waits[w]
	if !ok {
		c = make(chan struct{})
		b.waits[w] = c
	}
	return c
}

// endWaits ends those waits that which selects. b.mu is held.
func (b *Bucket) endWaits(which func(Wait) bool) {
	for w, c := range b.waits {
		if which(w) {
			close(c)
			delete(b.waits, w)
		}
	}
}
