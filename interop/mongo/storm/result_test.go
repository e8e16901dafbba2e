package storm

import (
	"sync"
	"time"
)

// result is what one run showed.
type result struct {
	scene
	offered []int         // attempts that arrived at the server, by bin
	answers [outcomes]int // attempts, by what the server made of them
	work    float64       // what the server accepted, in requests

	mu        sync.Mutex
	begun     []int         // operations, by the bin in which they began
	succeeded []int         // likewise
	heard     [outcomes]int // attempts, by what the client heard of them
}

func newResult(s scene) *result {
	return &result{scene: s, begun: make([]int, s.length()/bin), succeeded: make([]int, s.length()/bin)}
}

func (r *result) operationEnded(began time.Duration, succeeded bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun[began/bin]++
	if succeeded {
		r.succeeded[began/bin]++
	}
}

func (r *result) attemptEnded(heard outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard[heard]++
}

// peak is the largest load in any stretch of that length, over the original load.
func (r *result) peak(length time.Duration) float64 {
	bins := int(length / bin)
	within, most := 0, 0
	for b, n := range r.offered {
		within += n
		if b >= bins {
			within -= r.offered[b-bins]
		}
		most = max(most, within)
	}
	return float64(most) / length.Seconds() / r.load()
}

// inStorm is the mean load while the capacity is reduced, over the original load.
func (r *result) inStorm() float64 {
	from, to := r.before/bin, (r.before+r.storm)/bin
	return float64(sum(r.offered[from:to])) / r.storm.Seconds() / r.load()
}

// recovery is the time from the capacity's return until all is well and stays so; false if that never comes.
func (r *result) recovery() (time.Duration, bool) {
	back := int((r.before + r.storm) / bin)
	well := len(r.begun)
	for well > back && r.well(well-1) {
		well--
	}
	return time.Duration(well-back) * bin, well < len(r.begun)
}

// well reports whether in a bin the load is within 1 % of the original, and at least 99 % of the operations that begin in
// it succeed.
func (r *result) well(b int) bool {
	original := r.load() * bin.Seconds()
	off := float64(r.offered[b]) - original
	return max(off, -off) <= original/100 && r.succeeded[b]*100 >= r.begun[b]*99
}

// failed is how many operations failed.
func (r *result) failed() int { return sum(r.begun) - sum(r.succeeded) }

func sum(of []int) (n int) {
	for _, v := range of {
		n += v
	}
	return n
}
