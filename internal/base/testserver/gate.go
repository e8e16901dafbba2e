package testserver

import (
	"errors"
	"sync"
	"sync/atomic"
)

// ErrGone means that the connection ended while a gate held its bytes back.
var ErrGone = errors.New("the connection is gone")

// Gate holds back the bytes of a server while it is shut. The zero value is open. All methods are safe for concurrent use.
type Gate struct {
	shut atomic.Bool
	mu   sync.Mutex
	open chan struct{} // closed when the gate opens again; nil while it is open
}

// Set shuts the gate or opens it.
func (g *Gate) Set(shut bool) {
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

// IsShut reports whether the gate is shut.
func (g *Gate) IsShut() bool { return g.shut.Load() }

// Wait returns nil as soon as the gate is open, or ErrGone if done is closed first.
func (g *Gate) Wait(done <-chan struct{}) error {
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
			return ErrGone
		}
	}
	return nil
}
