package growth

import (
	"fmt"
	"math"
	"slices"
	"syscall"
	"testing"
	"time"
)

// series is the cost of one thing at several sizes, the smallest first.
type series struct {
	name  string
	sizes []int
	// cost returns the CPU time that the process took for one thing at a size.
	cost func(t *testing.T, size int) float64
}

// measured are the costs in ns of one series: by size, one of each round.
type measured map[int][]float64

// measure measures every size in each round, so that what else the machine does meets them alike.
func (s series) measure(t *testing.T) measured {
	t.Helper()
	for _, size := range s.sizes {
		s.cost(t, size) // pools and caches are filled
	}
	costs := make(measured)
	for range *rounds {
		for _, size := range s.sizes {
			costs[size] = append(costs[size], s.cost(t, size))
		}
	}
	return costs
}

// growth returns by how many percent the cost at a size is above that at the smallest: the median of the rounds' ratios.
func (s series) growth(costs measured, size int) float64 {
	var ratios []float64
	for i, smallest := range costs[s.sizes[0]] {
		ratios = append(ratios, costs[size][i]/smallest)
	}
	return 100 * (median(ratios) - 1)
}

// print prints a line for each size, and returns the worst growth.
func (s series) print(costs measured) float64 {
	worst := math.Inf(-1)
	for i, size := range s.sizes {
		if i == 0 {
			fmt.Printf("%-44s %10d %12.0f\n", s.name, size, median(costs[size]))
			continue
		}
		growth := s.growth(costs, size)
		worst = max(worst, growth)
		fmt.Printf("%-44s %10d %12.0f %+11.1f %%\n", s.name, size, median(costs[size]), growth)
	}
	return worst
}

func median(values []float64) float64 {
	values = slices.Clone(values)
	slices.Sort(values)
	return values[len(values)/2]
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

// each returns the CPU time in ns of one of n things that do does together.
func each(t *testing.T, n int, do func() error) float64 {
	t.Helper()
	before := cpuTime(t)
	if err := do(); err != nil {
		t.Fatal(err)
	}
	return float64(cpuTime(t)-before) / float64(n)
}
