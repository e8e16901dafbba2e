package prove

import "testing"

// TestFigures measures the figures of the experiment with mixed failures. Each seed runs in its own bubble. With several seeds a cell
// needs 1,000 acknowledged operations and 20 verified hits of each fault for a verdict.
func TestFigures(t *testing.T) {
	wrong := make([]bool, seeds())
	for i := range wrong {
		wrong[i] = true
	}
	for _, name := range []string{NoRetry, FiveBlind, OneRetry, BestEffort} {
		for i, r := range mixed(t, name) {
			if !r.AsExpected() {
				wrong[i] = false
				explain(t, i+1, r)
			}
		}
	}
	missing, extra, misreported := 0, 0, 0
	for _, name := range []string{TwoStep, Once, RetryableWrites} {
		for i, r := range mixed(t, name) {
			missing, extra, misreported = missing+r.Counts.Missing, extra+r.Counts.Extra, misreported+r.Counts.Misreported
			if !r.AsExpected() {
				t.Errorf("seed %d: %s is not shown to be right", i+1, name)
				explain(t, i+1, r)
			}
		}
	}
	figure("prove-exact-missing", missing)
	figure("prove-exact-extra", extra)
	figure("prove-misreported", misreported)
	shown := countTrue(wrong)
	figure("prove-wrong-shown", shown)
	if missing+extra+misreported > 0 || shown != seeds() {
		t.Errorf("missing %d, extra %d, misreported %d: all must be 0; wrong strategies caught in %d of %d seeds",
			missing, extra, misreported, shown, seeds())
	}
}

func mixed(t *testing.T, strategy string) []Result {
	t.Helper()
	return withStories(t, overSeeds(t, strategy, func(seed int) trial { return newTrial(strategy, seed) }))
}

// withStories checks the stories of the results.
func withStories(t *testing.T, results []Result) []Result {
	t.Helper()
	for i := range results {
		checkStories(t, &results[i])
	}
	return results
}

func countTrue(list []bool) int {
	n := 0
	for _, b := range list {
		if b {
			n++
		}
	}
	return n
}
