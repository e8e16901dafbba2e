package router

import (
	"cmp"

	"golang.org/x/sync/semaphore"
)

// SetMemory gives the router less memory than its configuration can. It is called before there are clients.
func (r *Router) SetMemory(bytes int64) {
	r.memory = newMemory(bytes, valueOr(r.cfg.Upstream.MaxPoolSize, defaultMaxPool), r.cfg.Window)
}

// MemoryInUse reports whether messages or replies hold memory, or wait for it.
func (r *Router) MemoryInUse(bytes int64) bool {
	places := int64(max(1, cmp.Or(valueOr(r.cfg.Upstream.MaxPoolSize, 0), defaultMaxPool)/4))
	for part, all := range map[*semaphore.Weighted]int64{
		r.memory.large.free: bytes / 2, r.memory.medium.free: bytes/4 - bytes/strangersPart, r.memory.strangers.free: bytes / strangersPart,
		r.memory.replies.free: bytes / 4, r.memory.replies.places: places,
	} {
		if !part.TryAcquire(all) {
			return true
		}
		part.Release(all)
	}
	return false
}

// Transactions returns of how many transactions the router knows the mongos.
func (r *Router) Transactions() int { return r.transactions.len() }

// Awaiting returns the number of getMores that have a turn, or wait for one.
func (r *Router) Awaiting() (n int64) {
	r.awaiting.mu.Lock()
	defer r.awaiting.mu.Unlock()
	for _, m := range r.awaiting.members {
		n += m.all
	}
	return n
}
