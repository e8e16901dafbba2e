package prove

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// gate lets cells run side by side, as many as the machine has processors for. It begins with one cell for each processor. While the timers
// fire in time it lets one more run at each look, and fewer after a look that found one late.
type gate struct {
	most int // never more than these

	mu      sync.Mutex
	limit   int
	running int
	changed chan struct{} // closed and replaced when a cell may run
}

// pollInterval is the time between two looks at the timers.
const pollInterval = 50 * time.Millisecond

func newGate(most int) *gate {
	return &gate{most: most, limit: min(most, runtime.GOMAXPROCS(0)), changed: make(chan struct{})}
}

// enter waits until one more cell may run.
func (g *gate) enter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.running >= g.limit {
		changed := g.changed
		g.mu.Unlock()
		<-changed
		g.mu.Lock()
	}
	g.running++
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	g.changeLocked()
}

func (g *gate) changeLocked() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// adjust follows the delay of the timers. It lets fewer cells run long before a delay is one that they do not tolerate.
func (g *gate) adjust(late, tolerance time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case late > tolerance/4:
		g.limit = max(1, min(g.limit, g.running)*3/4)
	case g.running >= g.limit && g.limit < g.most:
		g.limit++
		g.changeLocked()
	}
}

// follow adjusts the gate until ctx ends.
func (g *gate) follow(ctx context.Context, p *probes, tolerance time.Duration) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			g.adjust(p.latest(), tolerance)
		}
	}
}
