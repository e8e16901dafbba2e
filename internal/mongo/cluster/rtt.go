package cluster

import (
	"slices"
	"time"
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
