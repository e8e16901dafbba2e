package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// patience is how long after an operation began to wait for a map the nodes are asked for one every 50 ms.
const patience = time.Second

// Refresh asks the nodes for a newer map than since, first the endpoint first, which may be nil. All who need a map share one fetch, and
// no node is asked twice within 50 ms (RFC 24). It does not wait: see [Bucket.Wake].
func (b *Bucket) Refresh(since *Snapshot, first *Endpoint) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.snapshot.Load() == since {
		b.fetchLocked(first)
	}
}

// fetchLocked begins a fetch, unless one is under way that serves all. b.mu is held.
func (b *Bucket) fetchLocked(first *Endpoint) {
	if b.fetching || b.closed {
		return
	}
	links, wait := b.askable(first)
	switch {
	case len(links) > 0:
		b.fetching = true
		b.cluster.start(func(ctx context.Context) { b.fetch(ctx, links) })
	case wait > 0:
		b.fetchAfter(wait)
	}
}

// askable returns the connections that may be asked for a map, in the order in which they are asked, or how long it is until there is one.
// b.mu is held.
func (b *Bucket) askable(first *Endpoint) (links []*link, wait time.Duration) {
	now := time.Now()
	consider := func(l *link, asked time.Time) {
		if left := fetchFloor - now.Sub(asked); left > 0 {
			if wait == 0 || left < wait {
				wait = left
			}
			return
		}
		links = append(links, l)
	}
	if b.spare != nil {
		consider(b.spare, b.spare.asked)
	}
	for _, e := range b.endpoints {
		if e.link != nil {
			consider(e.link, e.asked)
		}
	}
	rand.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	for i, l := range links {
		if first != nil && l.endpoint == first {
			links[0], links[i] = l, links[0]
		}
	}
	return links, wait
}

// fetchAfter fetches after a time, if an operation still waits for a map then. b.mu is held.
func (b *Bucket) fetchAfter(d time.Duration) {
	if b.later != nil {
		return
	}
	b.later = time.AfterFunc(d, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.later = nil
		if len(b.waits) > 0 && time.Since(b.wanted) < patience {
			b.fetchLocked(nil)
		}
	})
}

// fetch asks one node after the other and stops at the first answer.
func (b *Bucket) fetch(ctx context.Context, links []*link) {
	for _, l := range links {
		b.mu.Lock()
		if l.endpoint != nil {
			l.endpoint.asked = time.Now()
		}
		l.asked = time.Now()
		b.mu.Unlock()
		err := b.ask(ctx, l.conn)
		if err == nil || ctx.Err() != nil {
			break
		}
		if errors.Is(err, kv.ErrDeadline) {
			l.doubt()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fetching = false
	if !b.closed && len(b.waits) > 0 {
		b.fetchAfter(fetchFloor)
	}
}

// ask asks one node for a map, and takes it.
func (b *Bucket) ask(ctx context.Context, conn *kv.Conn) error {
	q := kv.Request{Opcode: memd.OpGetClusterConfig, Deadline: time.Now().Add(b.cluster.config.pollTimeout()), Cancelled: ctx.Done()}
	if s := b.Snapshot(); s != nil && conn.Features().Has(memd.FeatureKnownMapVersion) {
		q.Extras = memd.AppendMapVersion(nil, s.Map.Version)
	}
	var reply kv.Reply
	if err := conn.RoundTrip(&q, &reply); err != nil {
		return err
	}
	if reply.Status != memd.StatusSuccess {
		return fmt.Errorf("the cluster map of %s: %v", conn.Address(), reply.Status)
	}
	if len(reply.Value) == 0 && q.Extras != nil {
		return nil // ours is the newest
	}
	m, err := parseMap(reply.Value, conn.Address())
	if err == nil {
		b.take(m, conn.Address())
	}
	return err
}

// polled is called by the timer of the poll.
func (b *Bucket) polled() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.fetchLocked(nil)
	if b.cluster.config.SRV != "" && b.spare == nil && !b.connected() {
		b.seekLocked() // the service record may name other nodes by now
	}
	b.poll.Reset(b.cluster.config.pollInterval())
}

// connected reports whether an endpoint has a connection. b.mu is held.
func (b *Bucket) connected() bool {
	for _, e := range b.endpoints {
		if e.link != nil {
			return true
		}
	}
	return false
}

// toldOf fetches the map that a node told of, if it is newer than the current one. The floor does not hold for it: the map is there.
func (b *Bucket) toldOf(version memd.MapVersion, conn *kv.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if version.Newer(b.told) || b.told == (memd.MapVersion{}) {
		b.told = version
	}
	if b.chasing || !b.behind() {
		return
	}
	b.chasing = true
	b.cluster.start(func(ctx context.Context) {
		for more := true; more; {
			before := b.snapshot.Load()
			err := b.ask(ctx, conn)
			b.mu.Lock()
			more = err == nil && before != b.snapshot.Load() && b.behind()
			b.chasing = more
			b.mu.Unlock()
		}
	})
}

// behind reports whether a node told of a newer map than the current one. b.mu is held.
func (b *Bucket) behind() bool {
	s := b.snapshot.Load()
	return !b.closed && (s == nil || b.told.Newer(s.Map.Version))
}
