package prove

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// allSeeds is the number of seeds of a figure. They differ only in which operations meet which faults, so that a usual run has one.
const allSeeds = 20

var (
	seedsFlag = flag.Int("seeds", 1, "the number of seeds of the figures and of the negative controls; docs/FIGURES.md has those of 20")
	wholeFlag = flag.Bool("whole", false, "run the matrices with the command's numbers of operations and faults")
)

// seeds returns the number of seeds of this run. With the race detector and with -short there is one.
func seeds() int {
	if testing.Short() || raceEnabled {
		return 1
	}
	return *seedsFlag
}

// trial is one cell, with the fake clock and a network in memory.
type trial struct {
	strategy   string
	failure    string
	settings   Settings
	dial       Dial
	deployment Deployment
	// do, if not nil, replaces the strategy's code.
	do func(context.Context, *doing) error
}

// newTrial returns a trial of mixed failures with a sound client and sound servers.
func newTrial(strategy string, seed int) trial {
	return trial{strategy: strategy, failure: Mixed, settings: figureSettings(seed), dial: Default(), deployment: Memory()}
}

func (tr trial) run(t *testing.T) (r Result) {
	t.Helper()
	list, err := tr.deployment.Backend().StrategiesNamed([]string{tr.strategy})
	if err != nil {
		t.Fatal(err)
	}
	failures, err := tr.deployment.Backend().FailuresNamed([]string{tr.failure})
	if err != nil {
		t.Fatal(err)
	}
	if tr.do != nil {
		list[0].do = tr.do
	}
	synctest.Test(t, func(t *testing.T) {
		r = runCell(t.Context(), list[0], failures[0], 0, tr.settings, tr.dial, tr.deployment)
	})
	return r
}

// figureSettings returns the settings of the figures: with several seeds, many more faults than the command has.
func figureSettings(seed int) Settings {
	s := MongoDB.DefaultSettings()
	s.Seed = uint64(seed)
	s.LoadLimit = time.Hour // on the fake clock
	if seeds() > 1 {
		s.Size.Operations, s.Size.MixedHits, s.Size.OutageOperations = 1000, 20, 10
	}
	return s
}

// overSeeds runs a trial for each seed, several at the same time, and returns the results in the order of the seeds.
func overSeeds(t *testing.T, name string, trialOf func(seed int) trial) []Result {
	t.Helper()
	return overFirst(t, seeds(), name, trialOf)
}

// overFirst is overSeeds for the first seeds, whatever the number of this run is.
func overFirst(t *testing.T, seeds int, name string, trialOf func(seed int) trial) []Result {
	t.Helper()
	results := make([]Result, seeds)
	t.Run(name, func(t *testing.T) {
		for i := range results {
			t.Run(fmt.Sprintf("seed %d", i+1), func(t *testing.T) {
				t.Parallel()
				results[i] = trialOf(i + 1).run(t)
			})
		}
	})
	return results
}

// figure prints a measured value in the form for docs/FIGURES.md, if all seeds were run.
func figure(name string, value int) {
	if seeds() != allSeeds {
		fmt.Fprintf(os.Stdout, "%s with seeds 1 to %d, and not 1 to %d: %d\n", name, seeds(), allSeeds, value)
		return
	}
	fmt.Fprintf(os.Stdout, "figure %s %d\n", name, value)
}

func explain(t *testing.T, seed int, r Result) {
	t.Helper()
	t.Logf("seed %d, %s, %s: %s, expected %s; error %q, not shown %q; %v; %+v", seed, r.Strategy, r.Failure, r.Verdict,
		r.Expected, r.Error, r.NotShown, r.Hits, r.Counts)
	for _, e := range r.Examples {
		t.Logf("%+v", e)
	}
}
