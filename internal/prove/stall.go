package prove

import (
	"context"
	"sync"
	"time"
)

// If the machine stalls, timeouts end without a chance for the operations, and the result of a running cell shows the
// machine and not the strategy. So the cell is repeated, even if its verdict is as expected.
const (
	stallTick = 10 * time.Millisecond
	// maxRepeats is the largest number of repeats of a cell.
	maxRepeats = 2
)

// stallLimit returns the longest stall without a repeat.
func stallLimit(t Timing) time.Duration { return t.patience() / 3 }

// stalls records the stalls of the machine: the times at which no goroutine ran.
type stalls struct {
	mu   sync.Mutex
	list []stall
}

type stall struct {
	end    time.Time
	length time.Duration
}

// watch records stalls until ctx ends.
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

// longestSince returns the longest stall that ended after began.
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
