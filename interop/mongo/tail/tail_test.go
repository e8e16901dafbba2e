package tail

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
)

var (
	rounds = flag.Int("rounds", 1, "how often TestTail measures each load; more than one make the runs long too")
	update = flag.Bool("update", false, "write what TestTail measures to docs/TAIL.md and docs/tail.svg")
)

// judged is the load of the figure findone-p99-vs-official, and crowded that of the fairness.
var judged, crowded = load{goroutines: 1_000}, load{goroutines: 10_000}

var loads = []load{
	{1, false}, {1, true}, {32, false}, {32, true}, judged, {1_000, true}, crowded, {10_000, true},
}

// The bars of the figures.
const p99Bar, unfairnessBar = 0.6, 2

// operations returns how many operations a run of the load has.
func (l load) operations() int {
	if *rounds == 1 {
		return max(2_000, 2*l.goroutines)
	}
	return max(20_000, 10*l.goroutines)
}

// run is a load with one client.
type run struct {
	client string
	load   load
}

// results are what all runs measured.
type results map[run]measured

// measured are the medians of a load's runs with one client.
type measured struct {
	p50, p99, p999      time.Duration
	unfairness, longest float64
}

// TestTail measures how long a FindOne takes among 1 to 10,000 goroutines on a pool of 100 connections, with and without a
// deadline for each: p50, p99 and p99.9; the server is a process of its own. The clients take turns in each round. Every value
// is the median of the rounds'; the figure findone-p99-vs-official is the median of the rounds' ratios.
func TestTail(t *testing.T) {
	if raceEnabled {
		t.Skip("measurements mean nothing under the race detector")
	}
	clients := connectBoth(t, startServer(t))
	warmUp(t, clients)
	fmt.Printf("%-30s %10s %10s %10s %12s %14s\n", "findone, median of rounds", "p50 µs", "p99 µs", "p99.9 µs", "most/least", "longest/p50")
	all := make(results)
	for _, l := range loads {
		samples := l.measure(t, clients)
		for _, name := range driver.Names() {
			m := medians(samples[name])
			all[run{name, l}] = m
			fmt.Printf("%-30s %10d %10d %10d %12.2f %14.2f\n", l.name(name),
				m.p50.Microseconds(), m.p99.Microseconds(), m.p999.Microseconds(), m.unfairness, m.longest)
		}
		switch l {
		case judged:
			ratio := p99Ratio(samples)
			fmt.Printf("figure findone-p99-vs-official %.2f\n", ratio)
			judge(t, "findone-p99-vs-official", ratio, p99Bar)
		case crowded:
			ours, theirs := all[run{driver.NameOurs, l}].unfairness, all[run{driver.NameOfficial, l}].unfairness
			fmt.Printf("figure findone-unfairness %.2f\n", ours)
			fmt.Printf("figure official-findone-unfairness %.2f\n", theirs)
			judge(t, "findone-unfairness", ours, unfairnessBar)
		}
	}
	if *update {
		all.updateDocs(t)
	}
}

// judge compares a figure with its bar. One short round judges nothing: what else the machine does may decide it.
func judge(t *testing.T, figure string, value, bar float64) {
	t.Helper()
	if *rounds > 1 && value > bar {
		t.Errorf("%s is %.2f; it must be at most %v", figure, value, bar)
	}
}

// warmUp fills the pools.
func warmUp(t *testing.T, clients map[string]findOne) {
	t.Helper()
	for _, op := range clients {
		if _, err := judged.run(op, 10*judged.goroutines); err != nil {
			t.Fatal(err)
		}
	}
}

func (l load) measure(t *testing.T, clients map[string]findOne) map[string][]sample {
	t.Helper()
	samples := make(map[string][]sample)
	for range *rounds {
		for _, name := range []string{driver.NameOurs, driver.NameOfficial} {
			s, err := l.run(clients[name], l.operations())
			if err != nil {
				t.Fatalf("%s: %v", l.name(name), err)
			}
			if len(s.waits) != l.operations() {
				t.Fatalf("%s: %d operations were done of %d", l.name(name), len(s.waits), l.operations())
			}
			samples[name] = append(samples[name], s)
		}
	}
	return samples
}

// name is how the table names the load of a client.
func (l load) name(client string) string {
	if l.deadline {
		return fmt.Sprintf("%s, %d, deadline", client, l.goroutines)
	}
	return fmt.Sprintf("%s, %d", client, l.goroutines)
}

func medians(samples []sample) measured {
	percentile := func(p float64) func(sample) time.Duration {
		return func(s sample) time.Duration { return s.percentile(p) }
	}
	return measured{
		p50: median(samples, percentile(50)), p99: median(samples, percentile(99)), p999: median(samples, percentile(99.9)),
		unfairness: median(samples, sample.unfairness), longest: median(samples, sample.longest),
	}
}

// p99Ratio returns the median of the rounds' ratios.
func p99Ratio(samples map[string][]sample) float64 {
	var ratios []float64
	for i, ours := range samples[driver.NameOurs] {
		ratios = append(ratios, float64(ours.percentile(99))/float64(samples[driver.NameOfficial][i].percentile(99)))
	}
	return median(ratios, func(r float64) float64 { return r })
}

func median[S any, N float64 | time.Duration](all []S, of func(S) N) N {
	var values []N
	for _, one := range all {
		values = append(values, of(one))
	}
	slices.Sort(values)
	return values[len(values)/2]
}
