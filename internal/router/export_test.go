package router

import "golang.org/x/sync/semaphore"

// SetMemory gives the router less memory than its configuration can. It is called before there are clients.
func (r *Router) SetMemory(bytes int64) {
	r.memory = newMemory(bytes, valueOr(r.cfg.Upstream.MaxPoolSize, defaultMaxPool), r.cfg.Window)
}

// MemoryInUse reports whether messages or replies hold memory.
func (r *Router) MemoryInUse(bytes int64) bool {
	for part, all := range map[*semaphore.Weighted]int64{r.memory.large.free: bytes / 2, r.memory.medium.free: bytes / 4, r.memory.replies.free: bytes / 4} {
		if !part.TryAcquire(all) {
			return true
		}
		part.Release(all)
	}
	return false
}

// Transactions returns of how many transactions the router knows the mongos.
func (r *Router) Transactions() int {
	r.transactions.mu.Lock()
	defer r.transactions.mu.Unlock()
	return len(r.transactions.values)
}
