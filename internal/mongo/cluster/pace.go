package cluster

import (
	"sync"
	"time"
)

// pace is for what may begin once in an interval. It is safe for concurrent use.
type pace struct {
	mu    sync.Mutex
	began time.Time // the last time
}

// begin returns 0 if it begins now, which the caller does. Otherwise it returns how long it is until it may begin.
func (p *pace) begin(interval time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if left := interval - now.Sub(p.began); left > 0 {
		return left
	}
	p.began = now
	return 0
}
