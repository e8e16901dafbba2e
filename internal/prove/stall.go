package prove

import (
	"context"
	"sync"
	"time"
)

// On the real clock a machine that stands still for long ends server selections that had no chance. A cell that was
// running meanwhile measured the machine and not the strategy: it is run again, whatever it showed.
const (
	stallTick = 10 * time.Millisecond
	// maxRepeats is how often a cell is run again.
	maxRepeats = 2
)

// stallLimit is how long the machine may stand still.
func stallLimit(t Timing) time.Duration { return t.ServerSelection / 3 }

// stalls notes when the machine stood still.
type stalls struct {
	mu   sync.Mutex
	list []stall
}

type stall struct {
	end    time.Time
	length time.Duration
}

// watch runs until ctx ends.
func (s *stalls) watch(ctx context.Context) {
	ticker := time.NewTicker(stallTick)
	defer ticker.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := time.Now()
		if late := now.Sub(last) - stallTick; late > 5*stallTick {
			s.mu.Lock()
			s.list = append(s.list, stall{now, late})
			s.mu.Unlock()
		}
		last = now
	}
}

// longestSince returns how long the machine stood still at most since a moment.
func (s *stalls) longestSince(began time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	longest := time.Duration(0)
	for _, one := range s.list {
		if one.end.After(began) {
			longest = max(longest, one.length)
		}
	}
	return longest
}
