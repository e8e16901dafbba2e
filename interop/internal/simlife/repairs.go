package simlife

import (
	"sync"
	"time"
)

// Repairs end faults after a while, or at once when the life is over. Its methods are safe for concurrent use.
type Repairs struct {
	mu      sync.Mutex
	over    bool
	pending sync.WaitGroup
}

// Over reports whether the life is over, so that no more faults may happen.
func (r *Repairs) Over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// Later calls f after a time, or at once if the life is over.
func (r *Repairs) Later(d time.Duration, f func()) {
	r.mu.Lock()
	over := r.over
	if !over {
		r.pending.Add(1)
	}
	r.mu.Unlock()
	if over {
		f()
		return
	}
	go func() {
		defer r.pending.Done()
		Pause(d)
		f()
	}()
}

// Finish makes the life over, and waits until all is repaired.
func (r *Repairs) Finish() {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	r.pending.Wait()
}

// Pause waits for a time, on the clock of the caller's bubble.
func Pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}
