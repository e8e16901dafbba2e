package storm

import (
	"flag"
	"fmt"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the table and the plot into the docs")

// The bars for our defaults.
const (
	mostPeak     = 1.2
	mostRecovery = 2 * time.Second
)

func TestStorm(t *testing.T) {
	whole := !raceEnabled && !testing.Short()
	s := standard
	if !whole {
		s = few(s)
	}
	results := make([]*result, len(strategies))
	t.Run("run", func(t *testing.T) {
		for i, how := range strategies {
			t.Run(how.name, func(t *testing.T) {
				t.Parallel()
				results[i] = run(t, s, how)
			})
		}
	})
	for i, how := range strategies {
		holdsBars(t, how, results[i])
	}
	switch {
	case !whole:
	case *update:
		updateDocs(t, results)
	default:
		checkDocs(t, results)
	}
	if whole {
		printFigures(results)
	}
}

// holdsBars checks ours, and that others could and do fail: the simulation is one that can come out either way.
func holdsBars(t *testing.T, how strategy, r *result) {
	t.Helper()
	peak := r.peak(time.Second)
	recovery, recovers := r.recovery()
	switch how.name {
	case ours.name:
		if peak > mostPeak {
			t.Errorf("%s: the peak load is %.3f of the original one, want at most %v", how.name, peak, mostPeak)
		}
		if !recovers || recovery > mostRecovery {
			t.Errorf("%s: recovered %t after %v, want at most %v", how.name, recovers, recovery, mostRecovery)
		}
		if r.inStorm() <= 1 {
			t.Errorf("%s: nothing was tried again", how.name)
		}
	case none.name:
		if peak != 1 || !recovers || r.failed() == 0 {
			t.Errorf("%s: peak %v, recovered %t, failed %d; want 1, true, some", how.name, peak, recovers, r.failed())
		}
	default:
		if peak <= mostPeak {
			t.Errorf("%s: the peak load is %.3f of the original one, so the bar of %v shows nothing", how.name, peak, mostPeak)
		}
	}
}

// printFigures prints a recovery that did not come as the whole time after the storm.
func printFigures(results []*result) {
	for i, r := range results {
		recovery, _ := r.recovery()
		fmt.Printf("figure %sstorm-peak-load %.2f\n", strategies[i].figure, r.peak(time.Second))
		fmt.Printf("figure %sstorm-recovery-s %.1f\n", strategies[i].figure, recovery.Seconds())
	}
}

// TestOtherStorms checks that the bars hold for more than the scene of the docs.
func TestOtherStorms(t *testing.T) {
	for name, s := range otherScenes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, how := range []strategy{ours, blind} {
				holdsBars(t, how, run(t, s, how))
			}
		})
	}
}

// otherScenes varies one or two things at a time.
func otherScenes() map[string]scene {
	scenes := make(map[string]scene)
	with := func(name string, change func(*scene)) {
		s := few(standard)
		change(&s)
		scenes[name] = s
	}
	for _, headroom := range []float64{1.2, 1.5, 1.9} {
		for _, rejection := range []float64{0, 0.1, 0.25, 0.5} {
			with(fmt.Sprintf("headroom %v, rejection costs %v", headroom, rejection), func(s *scene) {
				s.headroom, s.rejection = headroom, rejection
			})
		}
	}
	for _, queue := range []time.Duration{25 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond} {
		with(fmt.Sprintf("queue of %v", queue), func(s *scene) { s.queue = queue })
	}
	for _, left := range []float64{0.1, 0.25, 0.6} {
		with(fmt.Sprintf("%v of the capacity left", left), func(s *scene) { s.left = left })
	}
	with("a slower network", func(s *scene) { s.latency = 20 * time.Millisecond })
	with("more patience", func(s *scene) { s.patience = 2 * time.Second })
	with("less patience", func(s *scene) { s.patience = 150 * time.Millisecond })
	with("longer deadline", func(s *scene) { s.deadline = 10 * time.Second })
	with("short storm", func(s *scene) { s.storm = time.Second })
	return scenes
}

// TestCostOfRejecting checks what the docs say of the parameter that matters most.
func TestCostOfRejecting(t *testing.T) {
	tests := []struct {
		cost     float64
		how      strategy
		recovers bool
	}{
		{0, unlimited, true},
		{0, blind, true},
		{0.1, blind, true},
		{0.25, blind, false},
		{0.25, failsafes, true},
		{0.5, failsafes, false},
		{0.5, ours, true},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s, cost %v", test.how.name, test.cost), func(t *testing.T) {
			t.Parallel()
			s := few(standard)
			s.rejection = test.cost
			if _, recovers := run(t, s, test.how).recovery(); recovers != test.recovers {
				t.Errorf("recovers: %t, want %t", recovers, test.recovers)
			}
		})
	}
}
