package prove

import (
	"flag"
	"testing"
	"time"
)

// couchbaseSeeds is the number of seeds of Couchbase's figures and mutants. The figures are over 20, which takes minutes.
var couchbaseSeeds = flag.Int("seeds", 1, "the number of seeds of Couchbase's experiment")

// manySeeds returns the number of seeds of this run. With the race detector and with -short there is one.
func manySeeds() int {
	if testing.Short() || raceEnabled {
		return 1
	}
	return *couchbaseSeeds
}

// TestCouchbaseFigures measures the figures of Couchbase's experiment with mixed failures: 20,000 acknowledged operations in each cell.
func TestCouchbaseFigures(t *testing.T) {
	wrong := make([]bool, manySeeds())
	for i := range wrong {
		wrong[i] = true
	}
	for _, name := range []string{NoRetry, FiveBlind} {
		for i, r := range mixedCouchbase(t, name) {
			if !r.AsExpected() || r.Verdict.IsRight() {
				wrong[i] = false
				explain(t, i+1, r)
			}
		}
	}
	extra, misreported, durableLost := 0, 0, 0
	for _, name := range []string{BestEffort, CASLoop, BestEffortDurable} {
		for i, r := range mixedCouchbase(t, name) {
			extra, misreported, durableLost = extra+r.Counts.Extra, misreported+r.Counts.Misreported, durableLost+r.Counts.DurableLost
			if !r.AsExpected() {
				t.Errorf("seed %d: %s is not as expected", i+1, name)
				explain(t, i+1, r)
			}
		}
	}
	couchbaseFigure("prove-cb-extra", extra)
	couchbaseFigure("prove-cb-misreported", misreported)
	couchbaseFigure("prove-cb-durable-lost", durableLost)
	shown := countTrue(wrong)
	couchbaseFigure("prove-cb-wrong-shown", shown)
	if extra+misreported+durableLost > 0 || shown != manySeeds() {
		t.Errorf("extra %d, misreported %d, durable losses %d: all must be 0; wrong strategies caught in %d of %d seeds",
			extra, misreported, durableLost, shown, manySeeds())
	}
}

// couchbaseFigure prints a measured value, if all seeds were run.
func couchbaseFigure(name string, value int) { printFigure(name, value, manySeeds()) }

// couchbaseTrial returns a trial of mixed failures with sound clients and servers.
func couchbaseTrial(strategy string, seed int) trial {
	s := Couchbase.DefaultSettings()
	s.Seed = uint64(seed)
	s.LoadLimit = 24 * time.Hour // on the fake clock
	return trial{strategy: strategy, failure: Mixed, settings: s, deployment: CouchbaseMemory()}
}

func mixedCouchbase(t *testing.T, strategy string) []Result {
	t.Helper()
	return overNSeeds(t, manySeeds(), strategy, func(seed int) trial {
		tr := couchbaseTrial(strategy, seed)
		if manySeeds() > 1 {
			tr.settings.Size.Operations, tr.settings.Size.MaxOperations = 20_000, 60_000
			tr.settings.Size.MixedHits, tr.settings.Size.MixedEvery = 20, 40
		}
		return tr
	})
}
