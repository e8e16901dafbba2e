package prove

import (
	"testing"
	"time"
)

// TestCouchbaseFigures measures the figures of Couchbase's experiment with mixed failures: with several seeds, 20,000 acknowledged operations in
// each cell.
func TestCouchbaseFigures(t *testing.T) {
	wrong := make([]bool, seeds())
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
	figure("prove-cb-extra", extra)
	figure("prove-cb-misreported", misreported)
	figure("prove-cb-durable-lost", durableLost)
	shown := countTrue(wrong)
	figure("prove-cb-wrong-shown", shown)
	if extra+misreported+durableLost > 0 || shown != seeds() {
		t.Errorf("extra %d, misreported %d, durable losses %d: all must be 0; wrong strategies caught in %d of %d seeds",
			extra, misreported, durableLost, shown, seeds())
	}
}

// couchbaseTrial returns a trial of mixed failures with sound clients and servers. With one seed the load is as small as a verdict allows.
func couchbaseTrial(strategy string, seed int) trial {
	s := Couchbase.DefaultSettings()
	s.Seed = uint64(seed)
	s.LoadLimit = 24 * time.Hour // on the fake clock
	// A fault of the cluster keeps others away for a thousand operations, so that some loads need more than the command permits to meet all kinds.
	s.Size.MaxOperations = 300_000
	if seeds() == 1 {
		s.Size.Operations, s.Size.MixedHits = 100, 2
	}
	return trial{strategy: strategy, failure: Mixed, settings: s, deployment: CouchbaseMemory()}
}

func mixedCouchbase(t *testing.T, strategy string) []Result {
	t.Helper()
	return withStories(t, overSeeds(t, strategy, func(seed int) trial {
		tr := couchbaseTrial(strategy, seed)
		if seeds() > 1 {
			tr.settings.Size.Operations = 20_000
			tr.settings.Size.MixedHits, tr.settings.Size.MixedEvery = 20, 40
		}
		return tr
	}))
}
