package engine

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

const (
	rounds     = 25     // samples of each library, taken in turn
	operations = 50_000 // of a sample; few enough that some samples meet no other load

	many           = 32            // goroutines on one engine
	manyOperations = many * 10_000 // enough that they run side by side for most of a sample

	// The bars are ratios to the fastest of the other libraries in the same run, because times depend on the machine. On the
	// machine where the goals of 10 ns and 20 ns were set, the ratios are 0.5 and 0.06.
	successBar = 0.8
	retryBar   = 0.15
)

// result holds a time for each contender, by its name.
type result map[string]float64

// over is what a contender adds to the bare calls.
func (r result) over(name string) float64 { return r[name] - r[bareName] }

// measure takes the samples in turn, so that a change of the machine meets all contenders, and sums each one's up.
func measure(t *testing.T, all []contender, l load, sum func([]float64) float64) result {
	t.Helper()
	samples := make(map[string][]float64)
	for range rounds {
		for _, c := range all {
			if lib := c.path(l.fails); lib != nil {
				samples[c.name] = append(samples[c.name], l.sample(t, lib))
			}
		}
	}
	r := make(result)
	for name, s := range samples {
		r[name] = sum(s)
	}
	return r
}

// least is for one goroutine: whatever disturbs a sample only adds to it.
func least(samples []float64) float64 { return slices.Min(samples) }

// median is for many: in the least of their samples they happened not to meet.
func median(samples []float64) float64 {
	slices.Sort(samples)
	return samples[len(samples)/2]
}

// chances is how often a figure above its bar is measured in all: other work on the machine only adds to it.
const chances = 4

// ratio is our time over that of the fastest other library.
func (r result) ratio() float64 {
	fastest := math.Inf(1)
	for name := range r {
		if name != bareName && name != oursName && name != guardedName {
			fastest = min(fastest, r.over(name))
		}
	}
	return r.over(oursName) / fastest
}

// measureAgainst measures, prints the ratio and compares it with the bar.
func measureAgainst(t *testing.T, all []contender, l load, figure string, bar float64) result {
	t.Helper()
	r := measure(t, all, l, least)
	for n := 1; n < chances && r.ratio() > bar; n++ {
		t.Logf("%s is %.2f, above %.2f: measured again", figure, r.ratio(), bar)
		r = measure(t, all, l, least)
	}
	fmt.Printf("figure %s %.2f\n", figure, r.ratio())
	if ratio := r.ratio(); !(ratio <= bar) {
		t.Errorf("%s is %.2f; it must be at most %.2f", figure, ratio, bar)
	}
	return r
}

// TestSpeed measures the wall time of an operation that only calls a function which the compiler may not inline: what is
// over the bare calls is the library's. A figure is the least of 25 samples of 50,000 operations. The success path has
// whatever of a budget and a breaker the library offers; the retry path has neither, and its second call succeeds.
//
// Printed only: one retry of ours with both on; and the success path with 32 goroutines on one engine, which is the wall
// time of all of them over the number of all their operations, the bare call included, the median of 25 samples.
func TestSpeed(t *testing.T) {
	if raceEnabled || testing.Short() {
		t.Skip("measurements: not under the race detector, where they mean nothing, and not with -short")
	}
	all := contenders(t)
	success := measureAgainst(t, all, load{1, operations, never}, "engine-success-vs-fastest-peer", successBar)
	again := measureAgainst(t, all, load{1, operations, first}, "engine-retry-vs-fastest-peer", retryBar)
	crowd := measure(t, all, load{many, manyOperations, never}, median)
	t.Log("\n" + table(t, all, success, again, crowd))
	for _, c := range all {
		if c.figure == "" {
			continue
		}
		fmt.Printf("figure %s-success-ns %.1f\n", c.figure, success.over(c.name))
		if c.retry != nil {
			fmt.Printf("figure %s-retry-ns %.1f\n", c.figure, again.over(c.name))
		}
	}
	fmt.Printf("figure engine-success-32-goroutines-ns %.1f\n", crowd[oursName])
	fmt.Printf("figure engine-retry-guarded-ns %.1f\n", again.over(guardedName))
}
