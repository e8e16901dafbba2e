package mongotest

import (
	"sync"
	"sync/atomic"
)

// gate holds back the bytes of a member while it is isolated.
type gate struct {
	shut atomic.Bool
	mu   sync.Mutex
	open chan struct{} // closed when the gate opens again; nil while it is open
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if shut == g.shut.Load() {
		return
	}
	g.shut.Store(shut)
	if shut {
		g.open = make(chan struct{})
		return
	}
	close(g.open)
	g.open = nil
}

// wait returns nil as soon as the gate is open, or errHangUp if done is closed first.
func (g *gate) wait(done <-chan struct{}) error {
	for g.shut.Load() {
		g.mu.Lock()
		open := g.open
		g.mu.Unlock()
		if open == nil {
			continue
		}
		select {
		case <-open:
		case <-done:
			return errHangUp
		}
	}
	return nil
}
