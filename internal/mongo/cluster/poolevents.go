package cluster

import "go.mongodb.org/mongo-driver/v2/event"

// A listener hears of a pool's states in the order of their changes, and before anything that follows from them: the
// pool that was cleared before the checkouts that fail by it, for example. Changes happen under locks, listeners are
// called without. So each change adds to the pool's story what is to be told and done, under the lock; and whoever comes
// by afterwards tells the story.

// then adds to the story. It is called with the lock held.
func (p *pool) then(f func()) { p.story = append(p.story, f) }

// tell runs the story, unless another goroutine is doing so: that one goes on with what was added.
func (p *pool) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.telling && len(p.story) > 0 {
		f := p.story[0]
		p.story = p.story[1:]
		p.unlocked(f)
	}
}

// unlocked calls f without the lock, which it is called with, even if f panics.
func (p *pool) unlocked(f func()) {
	p.telling = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.telling = false
	}()
	f()
}

func (p *pool) observed() bool {
	m := p.server.cluster.cfg.PoolMonitor
	return m != nil && m.Event != nil
}

// emit tells the listener. It is never called with a lock held.
func (p *pool) emit(e event.PoolEvent) {
	if p.observed() {
		e.Address = p.server.address
		p.server.cluster.cfg.PoolMonitor.Event(&e)
	}
}
