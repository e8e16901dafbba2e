package cluster

import (
	"slices"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// rttSamples is the number of round trip times of which the minimum is taken, and rttFewest the number below which there
// is no minimum (Server Monitoring, "Measuring RTT").
const (
	rttSamples = 10
	rttFewest  = 2
)

// recentRTTs are the most recent round trip times of a server.
type recentRTTs struct {
	ring [rttSamples]time.Duration
	n    int // all samples so far
}

func (r *recentRTTs) add(sample time.Duration) {
	r.ring[r.n%rttSamples] = sample
	r.n++
}

// min returns the least of the recent round trip times, 0 if there are too few.
func (r *recentRTTs) min() time.Duration {
	if r.n < rttFewest {
		return 0
	}
	return slices.Min(r.ring[:min(r.n, rttSamples)])
}

// roundTrips are the average and the minimum of a server's round trip times. It is safe for concurrent use: the monitor
// and the rttMonitor add samples.
type roundTrips struct {
	mu      sync.Mutex
	average time.Duration
	recent  recentRTTs
}

func (r *roundTrips) add(sample time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.average = topology.NextRTT(&topology.Server{RTT: r.average, HasRTT: r.recent.n > 0}, sample)
	r.recent.add(sample)
}

func (r *roundTrips) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.average, r.recent = 0, recentRTTs{}
}

// describe returns s with the average and the minimum.
func (r *roundTrips) describe(s *topology.Server) *topology.Server {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := *s
	next.RTT, next.HasRTT, next.MinRTT = r.average, r.recent.n > 0, r.recent.min()
	return &next
}
