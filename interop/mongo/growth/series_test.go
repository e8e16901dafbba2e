package growth

import (
	"fmt"
	"math"
	"syscall"
	"testing"
	"time"
)

// series is the cost of one thing at several sizes, the smallest first.
type series struct {
	name  string
	sizes []int
	// fixed is the size at which the cost is that of the operation itself, which is subtracted; what is left is shared by the
	// things above that size. Zero means that cost is that of one thing.
	fixed int
	// cost returns the CPU time in ns that the process took for one operation at a size, or for one thing.
	cost func(t *testing.T, size int) float64
}

// measured are the least costs in ns by size. What else the machine does only adds to the CPU time: it empties caches.
type measured map[int]float64

// measure measures every size in each round, so that what else the machine does meets them alike.
func (s series) measure(t *testing.T) measured {
	t.Helper()
	all := s.sizes
	if s.fixed > 0 {
		all = append([]int{s.fixed}, all...)
	}
	for _, size := range all {
		s.cost(t, size) // pools and caches are filled
	}
	costs := make(measured)
	for round := range *rounds {
		for _, size := range all {
			if cost := s.cost(t, size); round == 0 || cost < costs[size] {
				costs[size] = cost
			}
		}
	}
	return costs
}

// each returns the cost of one thing at a size.
func (s series) each(costs measured, size int) float64 {
	if s.fixed == 0 {
		return costs[size]
	}
	return (costs[size] - costs[s.fixed]) / float64(size-s.fixed)
}

// print prints a line for each size, and returns by how many percent the largest cost is above that at the smallest size.
func (s series) print(costs measured) float64 {
	worst := math.Inf(-1)
	for _, size := range s.sizes {
		growth := 100 * (s.each(costs, size)/s.each(costs, s.sizes[0]) - 1)
		fmt.Printf("%-44s %10d %12.0f %+11.1f %%\n", s.name, size, s.each(costs, size), growth)
		if size != s.sizes[0] {
			worst = max(worst, growth)
		}
	}
	return worst
}

// cpuTime returns the user and system time that the process has used.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// cpuOfEach returns the CPU time in ns of one of n things that do does together.
func cpuOfEach(t *testing.T, n int, do func() error) float64 {
	t.Helper()
	before := cpuTime(t)
	if err := do(); err != nil {
		t.Fatal(err)
	}
	return float64(cpuTime(t)-before) / float64(n)
}
